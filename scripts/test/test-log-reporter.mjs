import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import { CHECKOUT } from "../cluster/folders.mjs";

/**
 * A reporter of Jest that writes down each file and each test as it begins and ends, one JSON line each, into the file that TONY_TEST_LOG
 * names: Jest's own report is written at its end only, which a phase that is cut off never sees. `readTestLog` reads it.
 */
export default class TestLogReporter {
  onTestFileStart({ path }) {
    append({ event: "begun", test: relative(CHECKOUT, path) });
  }

  onTestCaseStart({ path }, { ancestorTitles, title }) {
    append({ event: "begun", test: nameOf(path, [...ancestorTitles, title]) });
  }

  onTestCaseResult({ path }, { ancestorTitles, title, status, failureMessages, duration }) {
    const test = nameOf(path, [...ancestorTitles, title]);
    append({ event: status, test, messages: failureMessages, durationMs: duration ?? 0 });
  }

  onTestFileResult({ path }) {
    append({ event: "over", test: relative(CHECKOUT, path) });
  }
}

const nameOf = (path, titles) => [relative(CHECKOUT, path), ...titles].join(" › ");

function append(line) {
  appendFileSync(process.env.TONY_TEST_LOG, `${JSON.stringify(line)}\n`);
}

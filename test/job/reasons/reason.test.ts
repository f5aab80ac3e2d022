import { describe, expect, test } from "@jest/globals";
import { endingReasons, endingWords } from "../../../src/job/reasons/endings.ts";
import { factsShape } from "../../../src/job/reasons/facts.ts";
import { outcomeWords } from "../../../src/job/reasons/outcomes.ts";
import { reasonShape } from "../../../src/job/reasons/reason.ts";
import { settingWords } from "../../../src/job/reasons/words.ts";

const readEnding = reasonShape(endingReasons);
const at = { task: "worker:1", host: "n1" };

describe("a reason", () => {
  test("makes its sentence of its facts alone", () => {
    expect(endingWords({ code: "program-exited", ...at, exitCode: 3, error: "ValueError: no" })).toBe(
      "worker:1 exited 3 on n1: ValueError: no",
    );
    const setting = { key: "tony.am.retry-count", at: "job.xml:9" };
    expect(outcomeWords({ code: "budget-spent", class: "program", limit: 2, setting })).toBe(
      "program restarts: 2 of 2 used (tony.am.retry-count = 2, job.xml:9)",
    );
  });

  test("names no file that nobody finds any more, as the Python package makes one of its arguments", () => {
    const setting = { key: "tony.am.retry-count", at: "/tmp/tony-ts-x1/job/tony-ts-submit.xml:9" };
    expect(outcomeWords({ code: "budget-spent", class: "program", limit: 2, setting })).toBe(
      "program restarts: 2 of 2 used (tony.am.retry-count = 2)",
    );
    expect(settingWords(setting)).toBe("tony.am.retry-count");
    expect(settingWords({ key: "tony.am.retry-count", at: "job.xml:9" })).toBe("tony.am.retry-count (job.xml:9)");
  });

  test("of a container's end says what its own words are, rather than what it used", () => {
    const measured = { used: "4.1 GiB", limit: "4 GiB" };
    expect(endingWords({ code: "ran-out-of-memory", ...at, ...measured })).toBe(
      "worker:1 ran out of memory on n1: used 4.1 GiB of 4 GiB",
    );
    expect(endingWords({ code: "ran-out-of-memory", ...at, ...measured, detail: "no heap" })).toMatch(/n1: no heap$/);
  });

  test("survives being written as JSON and read again, without what a newer program adds", () => {
    const ending = { code: "program-exited", ...at, exitCode: 3, error: "ValueError: no" };
    expect(readEnding(JSON.parse(JSON.stringify({ ...ending, later: 1 })), "reason")).toEqual(ending);
  });

  test("is refused where a fact is missing or is none of its kind", () => {
    const read = factsShape({ host: "text", setting: "setting?", times: "number" });
    expect(() => readEnding({ code: "worn-out", ...at }, "reason")).toThrow("reason has an unknown code: worn-out");
    expect(() => read({ times: 1 }, "reason")).toThrow("reason.host must be text");
    expect(() => read({ host: "n1", times: "1" }, "reason")).toThrow("reason.times must be a number");
    expect(() => read({ host: "n1", times: 1, setting: { at: "x:1" } }, "reason")).toThrow(
      "reason.setting.key must be",
    );
  });
});

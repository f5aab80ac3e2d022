import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { variablesOf } from "../../../client/context.ts";
import type { LogSelection } from "../../../client/logs/log-selection.ts";
import { checkOffline } from "../../../client/submission/check-offline.ts";
import { readJob } from "../../../src/job/build/load-job.ts";
import type { SubmissionOptions } from "../../../src/job/build/submission.ts";
import { recordedContext } from "../support.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "check-offline-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A check of one worker's job, with these settings too. */
function check(
  settings: Readonly<Record<string, string>>,
  options: Omit<SubmissionOptions, "conf"> = {},
  logs: LogSelection = { kind: "lead" },
) {
  const context = recordedContext({ workingDirectory: folder, environment: { OPEN: "sesame" } });
  const all = { "tony.application.framework": "generic", "tony.worker.instances": "1", ...settings };
  const conf = Object.entries(all).map(([key, value]) => `${key}=${value}`);
  return checkOffline(readJob({ ...options, conf }, { variables: variablesOf(context) }), logs, context);
}

const search = {
  "tony.worker.command": "train {{param.x}}",
  "tony.search.param.x": "float 0 1",
  "tony.search.metric": "loss",
  "tony.search.direction": "minimize",
};

describe("a job is checked without a cluster:", () => {
  test("all its errors are told at once", () => {
    const wrong = { "tony.worker.command": "true", "tony.worker.memory": "much", "tony.application.framework": "none" };
    const checking = expect(() => check(wrong));
    checking.toThrow(expect.objectContaining({ code: "JOB_INVALID" }));
    checking.toThrow("tony.worker.memory");
    checking.toThrow("tony.application.framework");
  });

  test("warnings and the values of its secrets come with it", () => {
    const settings = { "tony.worker.command": "python main.py", "tony.application.secrets": "KEY=env:OPEN" };
    const { spec, problems, secrets } = check(settings);
    expect(spec.roles).toMatchObject([{ name: "worker", command: "python main.py" }]);
    expect(problems).toMatchObject([{ severity: "warning", message: expect.stringContaining("runs main.py") }]);
    expect(secrets).toEqual(new Map([["KEY", "sesame"]]));
  });

  test("with --strict a warning is an error", () => {
    expect(() => check({ "tony.worker.command": "python main.py" }, { strict: true })).toThrow("runs main.py");
  });

  test("a secret that is not there is an error", () => {
    const settings = { "tony.worker.command": "true", "tony.application.secrets": "KEY=env:NONE" };
    expect(() => check(settings)).toThrow(expect.objectContaining({ code: "SECRET_UNREADABLE" }));
  });

  test("a search is refused, unless it is run as one", () => {
    expect(() => check(search)).toThrow(
      "The job describes a search (tony.search.*): tony-ts search runs it, and with --dry-run shows its trials",
    );
    expect(check({ ...search, "tony.search.max-trials": "2" }, { runsSearch: true }).spec).toHaveProperty("search");
  });

  test("the output of a task that it does not have cannot be shown", () => {
    const settings = { "tony.worker.command": "true" };
    expect(() => check(settings, {}, { kind: "named", names: ["worker:1"] })).toThrow("worker:1");
    expect(check(settings, {}, { kind: "named", names: ["worker:0"] }).problems).toEqual([]);
  });

  test("what --src_dir sends is known, and what of it stays behind", () => {
    for (const name of ["src/train.py", "src/.venv/bin/python"]) {
      mkdirSync(path.join(folder, path.dirname(name)), { recursive: true });
      writeFileSync(path.join(folder, name), "");
    }
    const warnings = (command: string) =>
      check({ "tony.worker.command": command }, { srcDir: "src" }).problems.map(({ message }) => message);
    expect(warnings("python train.py")).toEqual([]);
    expect(warnings("python trian.py")).toEqual([expect.stringMatching(/did you mean train\.py\?$/)]);
    expect(warnings(".venv/bin/python train.py")).toEqual([
      expect.stringContaining("uses .venv/bin/python, which stays behind: --src_dir leaves out .venv;"),
    ]);
  });
});

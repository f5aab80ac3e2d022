import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { closeAbandonedHistory } from "../../../client/applications/abandoned-history.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { FileSystems } from "../../../src/hadoop/hdfs/file-systems.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import type { ApplicationReport } from "../../../src/hadoop/yarn/records.ts";
import { historyFileInProgress } from "../../../src/history/layout.ts";
import { aJobSpec } from "../../support/job-spec.ts";
import { aReport } from "../application-report.ts";

const id = "application_1795305600000_0009";
const endedAtMs = Date.UTC(2026, 10, 22, 12);
const fileSystems = new FileSystems({
  configuration: new Configuration(),
  credentials: simpleCredentials({ name: "ada" }),
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "abandoned-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const running = () => path.join(folder, "intermediate", id);
const begin = () => {
  mkdirSync(running(), { recursive: true });
  writeFileSync(path.join(running(), historyFileInProgress), "");
};

/** What becomes of the history of a job that has ended so, so long after its end. */
async function close(changes: Partial<ApplicationReport>, sinceMs: number) {
  const asked: string[] = [];
  const reportOf = async (applicationId: string) => {
    asked.push(applicationId);
    return aReport({ startTimeMs: endedAtMs - 60_000, finishTimeMs: endedAtMs, ...changes });
  };
  const spec = aJobSpec({ history: { timeZone: "UTC", location: `file://${folder}` } });
  const job = { applicationId: id, spec, user: "ada" };
  const isSettled = await closeAbandonedHistory(job, fileSystems, { reportOf, nowMs: endedAtMs + sinceMs });
  const finished = path.join(folder, "finished/2026/11/22", id);
  return { isSettled, asked, files: existsSync(finished) ? readdirSync(finished) : undefined };
}

const succeeded = { state: "FINISHED", finalStatus: "SUCCEEDED" } as const;

describe("the history of a job whose ApplicationMaster did not close it", () => {
  test.each([
    ["KILLED", { state: "KILLED", finalStatus: "KILLED" }, 1_000],
    ["FAILED", { state: "FAILED", finalStatus: "FAILED" }, 0],
    ["SUCCEEDED", succeeded, 60_000],
  ] as const)("is closed with its times, its user and how it ended: %s", async (result, changes, sinceMs) => {
    begin();
    expect(await close(changes, sinceMs)).toEqual({
      isSettled: true,
      asked: [id],
      files: [`${id}-${endedAtMs - 60_000}-${endedAtMs}-ada-${result}.jsonl`],
    });
    expect(existsSync(running())).toBe(false);
  });

  test.each([[0], [59_999], [-59_999]])(
    "is left to that, which closes it within a minute of its end: %i ms after it, by this machine's clock",
    async (sinceMs) => {
      begin();
      expect(await close(succeeded, sinceMs)).toMatchObject({ isSettled: false, files: undefined });
      expect(readdirSync(running())).toEqual([historyFileInProgress]);
    },
  );

  test("of which there is none is settled, and nobody is asked", async () => {
    expect(await close(succeeded, 0)).toEqual({ isSettled: true, asked: [], files: undefined });
  });
});

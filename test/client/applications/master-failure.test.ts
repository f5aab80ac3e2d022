import { describe, expect, test } from "@jest/globals";
import { masterFailure } from "../../../client/applications/master-failure.ts";
import type { ApplicationReport } from "../../../src/hadoop/yarn/records.ts";
import { aReport } from "../application-report.ts";

/** The ResourceManager's words around a container's diagnostics, as Hadoop 3.4.2 writes them. */
function failed(exitStatus: number, diagnostics: string): ApplicationReport {
  return aReport({
    state: "FAILED",
    finalStatus: "FAILED",
    finishTimeMs: 7_000,
    diagnostics: `Application application_1_0017 failed 4 times in previous 600000 milliseconds due to AM Container for appattempt_1_0017_000004 exited with  exitCode: ${exitStatus}
Failing this attempt.Diagnostics: ${diagnostics}For more detailed output, check the application tracking page: http://127.0.0.1:8088/cluster/app/application_1_0017 Then click on links to logs of each attempt.
. Failing the application.`,
  });
}

const usage = "Current usage: 69.4 MB of 64 MB physical memory used; 699.9 MB of 134.4 MB virtual memory used.";

describe("why an application's AMs ended", () => {
  test("its virtual memory: the key and the site's setting are named", () => {
    const report = failed(
      -103,
      `[2026-11-22 01:11:05.719]Container [] is running 1B beyond the 'VIRTUAL' memory limit. ${usage}\n`,
    );
    expect(masterFailure(report, 0)).toMatchObject({
      summary: "the AM used 699.9 MB of the 134.4 MB of virtual memory that YARN allows, 4 times",
      remedy: "raise tony.am.memory, or have the site raise yarn.nodemanager.vmem-pmem-ratio",
      exit: "-103",
      atMs: 7_000,
      lines: [],
    });
  });

  test("its memory: the key is named", () => {
    const report = failed(-104, `Container [] is running 1B beyond the 'PHYSICAL' memory limit. ${usage}\n`);
    expect(masterFailure(report, 0)).toMatchObject({
      summary: "the AM used 69.4 MB of the 64 MB of memory that YARN allows, 4 times",
      remedy: "raise tony.am.memory",
    });
  });

  test("a runtime that the node cannot load: our shell's sentence, under it what the loader said", () => {
    const stderr =
      "./node: libatomic.so.1: cannot open shared object file\ntony-ts: am.cjs could not be started by ./node on host";
    const report = failed(127, `Exception from container-launch.\nLast 4096 bytes of stderr :\n${stderr}\n\n\n`);
    expect(masterFailure(report, 0)).toMatchObject({
      summary: "am.cjs could not be started by ./node on host, 4 times",
      lines: ["./node: libatomic.so.1: cannot open shared object file"],
    });
  });

  test("files that could not be brought to the node: YARN's words", () => {
    const report = failed(-1000, "[2026-11-22 01:11:05.719]File does not exist: hdfs://nn/user/ada/job.json\n");
    expect(masterFailure(report, 0)).toMatchObject({
      summary: "the AM's container could not be prepared, 4 times",
      lines: ["File does not exist: hdfs://nn/user/ada/job.json"],
      fix: { code: "check-am-files" },
    });
    const said = Array.from({ length: 21 }, (_, index) => `at ${index + 1}`);
    expect(masterFailure(failed(-1000, `[2026-11-22 01:11:05.719]${said.join("\n")}\n`), 0)).toMatchObject({
      lines: said.slice(0, 20),
    });
  });

  test("tokens that ended before another attempt could begin: what would have lasted", () => {
    const why = "token (token for ada: HDFS_DELEGATION_TOKEN owner=ada) can't be found in cache";
    expect(masterFailure(failed(-1000, `[2026-11-22 01:11:05.719]${why}\n`), 0)).toMatchObject({
      summary: "the AM's container could not be prepared, 4 times",
      remedy: expect.stringContaining("yarn.resourcemanager.proxy-user-privileges.enabled=true"),
      lines: [why],
    });
  });

  test("its program: the last that it wrote, or YARN's words where it wrote nothing, once if no count is told", () => {
    const stderr = Array.from({ length: 21 }, (_, index) => `line ${index + 1}`);
    const report = failed(
      1,
      `Exception from container-launch.\nLast 4096 bytes of stderr :\n${stderr.join("\n")}\n\n\n`,
    );
    expect(masterFailure(report, 0)).toEqual({
      class: "infrastructure",
      reason: { code: "am-ended", attempts: 4 },
      summary: "the AM's container ended, 4 times",
      exit: "1",
      atMs: 7_000,
      lines: stderr.slice(1),
      consequences: [],
      followed: [],
    });
    const once = { ...report, diagnostics: report.diagnostics.replace(/failed 4 times/, "failed") };
    expect(masterFailure(once, 0)).toMatchObject({ reason: { attempts: 1 } });
    expect(masterFailure(failed(1, "[2026-11-22 01:11:05.719]Exit code 1\n"), 0)).toMatchObject({
      lines: ["Exit code 1"],
    });
  });

  test("our own last word: what others wrote around it is shown, the last of it", () => {
    const others = Array.from({ length: 21 }, (_, index) => `line ${index + 1}`);
    const stderr = ["tony-ts: a warning.", ...others, "tony-ts: it cannot go on."];
    const report = failed(
      1,
      `Exception from container-launch.\nLast 4096 bytes of stderr :\n${stderr.join("\n")}\n\n\n`,
    );
    expect(masterFailure(report, 0)).toMatchObject({
      reason: { code: "am-said", words: "it cannot go on", attempts: 4 },
      lines: others.slice(1),
    });
  });

  test("silence", () => {
    const diagnostics = "ApplicationMaster for attempt appattempt_1_0017_000001 timed out. Failing the application.";
    expect(masterFailure(aReport({ state: "FAILED", diagnostics }), 5)).toMatchObject({
      summary: "the AM stopped responding",
      atMs: 5,
      fix: { code: "check-am-node" },
      lines: [],
    });
  });

  test("is no question of a job that its AM ended, nor of one that was killed", () => {
    expect(
      masterFailure(aReport({ state: "FINISHED", finalStatus: "FAILED", diagnostics: "worker:0 exited 1" }), 0),
    ).toBeUndefined();
    expect(masterFailure({ ...failed(-103, ""), state: "KILLED" }, 0)).toBeUndefined();
    expect(masterFailure(aReport({ state: "FAILED", diagnostics: "queue ml refuses it" }), 0)).toBeUndefined();
  });
});

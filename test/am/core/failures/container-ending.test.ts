import { describe, expect, test } from "@jest/globals";
import { isGivenUp, isOrdered } from "../../../../am/core/failures/container-endings.ts";
import type { ContainerDiagnostics } from "../../../../src/job/diagnosis/container-diagnostics.ts";
import type { JobSpec } from "../../../../src/job/spec.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const numbered = Array.from({ length: 25 }, (_, at) => `line ${at + 1}`);

/** What the job, which may not start again, says of its only task when YARN reports this end of its container, after ten seconds. */
function causeAfter(exitStatus: number, said: Partial<ContainerDiagnostics> = {}, change: Partial<JobSpec> = {}) {
  const base = jobSpec([role("worker", 1)], change);
  const scenario = new Scenario({ ...base, failure: { ...base.failure, budgets: { program: 0, infrastructure: 0 } } });
  scenario.toRunning();
  scenario.after(10_000);
  const diagnostics = { stderr: [], words: [], ...said };
  scenario.on({ type: "container-completed", containerId: "c1", exitStatus, diagnostics });
  return { scenario, cause: scenario.core.state.outcome?.cause };
}

describe("the end of a container is told", () => {
  test("with the last 20 lines of its stderr, the executor's own last word, and the time of YARN's report", () => {
    const stderr = [...numbered, "tony-ts: first.", "tony-ts: the disk is full.", "bye"];
    const { cause } = causeAfter(1, { stderr, words: ["Exception from container-launch."] });
    expect(cause).toMatchObject({
      class: "infrastructure",
      task: "worker:0",
      host: "n1",
      containerId: "c1",
      exit: "1",
      atMs: 1_010_000,
      reason: { code: "executor-died", exitStatus: 1, detail: "the disk is full" },
      lines: [...numbered.slice(8), "tony-ts: first.", "tony-ts: the disk is full.", "bye"],
    });
    expect(cause?.remedy).toBeUndefined();
  });

  test("with YARN's own words where it wrote nothing to stderr", () => {
    const { cause } = causeAfter(1, { words: numbered });
    expect(cause?.lines).toEqual(numbered.slice(5));
    expect(cause?.reason).toEqual({ code: "executor-died", task: "worker:0", host: "n1", exitStatus: 1 });
  });

  test("with the file that its node could not fetch and YARN's word on it", () => {
    const words = ["java.io.FileNotFoundException: File does not exist", "second"];
    const said = { resource: "hdfs://nn/x.zip", stderr: ["tony-ts: no matter"], words };
    expect(causeAfter(-1000, said).cause?.reason).toMatchObject({ file: "hdfs://nn/x.zip", detail: words[0] });
  });

  test("with the amounts of memory instead of lines, and a limit into which the memory used would fit", () => {
    const memory = {
      kind: "physical",
      used: "2 GB",
      usedMiB: 2048,
      limit: "1 GB",
      limitMiB: 1024,
      both: false,
    } as const;
    const { cause } = causeAfter(-104, { memory, stderr: ["Killed"], words: ["beyond limits"] });
    expect(cause).toMatchObject({
      class: "program",
      reason: { code: "ran-out-of-memory", used: "2 GB", limit: "1 GB", usedMiB: 2048 },
      lines: [],
      fix: { code: "raise-memory", toMiB: 2560, virtual: false },
    });
  });

  test.each([
    [-103, false, true],
    [-103, true, false],
    [-104, false, false],
  ])(
    "with the ratio of virtual memory as a remedy only where it helps: %i, both limits exceeded: %s",
    (status, both, virtual) => {
      const kind = status === -103 ? "virtual" : "physical";
      const memory = { kind, used: "2 GB", usedMiB: 2048, limit: "1 GB", limitMiB: 1024, both } as const;
      expect(causeAfter(status, { memory }).cause?.fix).toMatchObject({ code: "raise-memory", virtual });
    },
  );

  test.each([
    [-103, true],
    [-104, false],
  ])("with a larger limit even where its use of memory is not known: %i", (status, virtual) => {
    expect(causeAfter(status).cause?.fix).toMatchObject({ code: "raise-memory", toMiB: 1536, virtual });
  });

  test("since its stream broke, if it did before", () => {
    const base = jobSpec([role("worker", 1)]);
    const broken = new Scenario({ ...base, failure: { ...base.failure, budgets: { program: 0, infrastructure: 0 } } });
    broken.toRunning();
    broken.after(1_000);
    broken.breaks("worker:0");
    broken.after(500);
    broken.completes("c1", 137);
    expect(broken.core.state.outcome?.cause).toMatchObject({ exit: "137", atMs: 1_001_000 });
  });
});

describe("a file of the job that the node's user may not read", () => {
  const files = [
    { source: "/home/ada/v.tgz", name: "v", as: "archive" },
    { source: "/home/ada/src", name: "src", as: "working-directory" },
  ] as const;
  const said = { unreadable: "v/bin/python", words: ["find failed"] };

  test("is the program's failure, which names the archive that has it and blames no machine", () => {
    const { cause, scenario } = causeAfter(1, said, { files });
    expect(cause).toMatchObject({
      class: "program",
      exit: "1",
      lines: [],
      reason: { code: "file-unreadable", file: "v/bin/python", archive: "/home/ada/v.tgz" },
      fix: { code: "pack-copies" },
    });
    expect(scenario.core.state.blame).toEqual({});
  });

  test("may be the role's own", () => {
    const { cause } = causeAfter(1, said, { roles: [role("worker", 1, { files })] });
    expect(cause?.reason).toMatchObject({ archive: "/home/ada/v.tgz" });
  });

  test("is named alone where no archive has it", () => {
    expect(causeAfter(1, said).cause?.reason).toEqual({
      code: "file-unreadable",
      task: "worker:0",
      host: "n1",
      file: "v/bin/python",
    });
  });

  test("did not end a container of another exit status", () => {
    expect(causeAfter(2, said).cause?.reason).toMatchObject({ code: "executor-died" });
  });
});

describe("a delegation token that HDFS no longer accepts", () => {
  const words = ["token (HDFS_DELEGATION_TOKEN token 5) can't be found in cache", ...numbered];
  const endedToken = "expired";

  test("is no machine's fault where it kept the files from the node", () => {
    const { cause, scenario } = causeAfter(-1000, { endedToken, words });
    expect(cause).toMatchObject({
      class: "program",
      exit: "-1000",
      reason: { code: "files-not-fetched", task: "worker:0", host: "n1" },
      lines: numbered.slice(5),
      fix: { code: "outlive-tokens" },
    });
    expect(scenario.core.state.blame).toEqual({});
  });

  test("does not explain another end", () => {
    expect(causeAfter(1, { endedToken, words }).cause?.reason).toMatchObject({ code: "executor-died" });
  });
});

test.each([
  [-105, "", true, true],
  [-100, "Container released by application", true, true],
  [-100, "Container released on a *lost* node", false, false],
  [-106, "Container released by application", false, false],
  [0, "", false, true],
  [1, "", false, false],
])(
  "a container of exit status %i and with the words '%s' was given up: %s; was told to end: %s",
  (status, words, givenUp, ordered) => {
    expect(isGivenUp(status, [words])).toBe(givenUp);
    expect(isOrdered(status, [words])).toBe(ordered);
  },
);

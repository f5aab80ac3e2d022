import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { parseArguments } from "../../../client/command-line/arguments.ts";
import { commands } from "../../../client/commands/commands.ts";
// Loaded before the command does so, several at once, which Jest's loader cannot.
import "../../../client/applications/local-folder.ts";
import "../../../client/submission/doctor.ts";
import "../../../client/submission/doctor-settings.ts";
import "../../../client/submission/runtime-probe.ts";
import "../../../src/machine.ts";
import "../../support/loaded-client.ts";
import { describe as rowsOf } from "../../../client/commands/doctor.ts";
import { ExitCode } from "../../../src/errors.ts";
import { formatProbeReport, type ProbeReport } from "../../../src/job/launch/probe.ts";
import { eventually } from "../../support/eventually.ts";
import { StandInCluster } from "../submission/stand-in-cluster.ts";
import { type RecordedContext, recordedContext } from "../support.ts";

test("without a cluster says what is missing, and what works all the same", async () => {
  const parsed = await parseArguments(["doctor"], commands);
  if (!("run" in parsed)) throw new Error("nothing to run");
  const context = recordedContext({ environment: { HADOOP_HOME: "/nowhere", CUDA_VISIBLE_DEVICES: "0,1" } });
  expect(await parsed.run(context)).toBe(ExitCode.cluster);
  expect(context.out.text).toMatch(
    /^ {2}✗ configuration +HADOOP_CONF_DIR is not set, so .*\/nowhere\/etc\/hadoop or \/nowhere\/conf or \/etc\/hadoop\/conf either\.\n +→ Set HADOOP_CONF_DIR/,
  );
  expect(context.out.text).toMatch(/ {2}✓ runtime +\/.* travels with jobs\n/);
  expect(context.out.text).toMatch(
    / {2}✓ this machine +.* GiB, .* cores?, 2 GPUs: jobs run here with --scheduler local\n$/,
  );
});

test("on a cluster that a probe cannot be sent to tells all it has found, as JSON too, instead of failing", async () => {
  const there = await StandInCluster.start();
  try {
    const stagingDir = `file://${there.file("no-folder", "")}/staging`;
    const settings = { "tony.staging-dir": stagingDir, "tony.node.binary": "local:/opt/node" };
    const conf = Object.entries(settings).flatMap(([key, value]) => ["--conf", `${key}=${value}`]);
    const parsed = await parseArguments(["doctor", "--json", "--queue", "ml", ...conf], commands);
    if (!("run" in parsed)) throw new Error("nothing to run");
    expect(await parsed.run(there.context)).toBe(ExitCode.cluster);
    const told: unknown = JSON.parse(there.context.out.text);
    const finding = (subject: string, state: string) => expect.objectContaining({ subject, state });
    expect(told).toMatchObject({
      findings: expect.arrayContaining([finding("HDFS", "wrong"), finding("queue", "well")]),
    });
  } finally {
    await there.stop();
  }
});

describe("on a cluster", () => {
  let there: StandInCluster;
  beforeEach(async () => {
    there = await StandInCluster.start();
    const report: ProbeReport = { host: "n1", version: "v22.0.0", architecture: "x64", glibc: "2.36", counted: "all" };
    there.manager.taken = { state: "FINISHED", finalStatus: "SUCCEEDED", diagnostics: formatProbeReport(report) };
  });
  /** Nothing that the command opened may still be open. */
  afterEach(async () => {
    await eventually("all to leave the ResourceManager", () => there.manager.callers === 0, 3_000);
    await there.stop();
  });

  /** With these words, by somebody whose context this is. */
  async function looked(words: readonly string[] = [], context: RecordedContext = there.context): Promise<number> {
    const settings = [`tony.staging-dir=file://${there.staging}`, "tony.node.binary=local:/opt/node"];
    const parsed = await parseArguments(["doctor", ...settings.flatMap((one) => ["--conf", one]), ...words], commands);
    if (!("run" in parsed)) throw new Error("nothing to run");
    return await parsed.run(context);
  }

  const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const listening = () => SIGNALS.map((signal) => process.listenerCount(signal));

  test("where all is well, the runtime's start on a node is the last finding", async () => {
    expect(await looked()).toBe(ExitCode.succeeded);
    expect(there.context.out.text).toMatch(/ {2}✓ nodes +the runtime starts in a container on n1 .*\n$/);
    expect(there.manager.submitted).toMatchObject([{ queue: "default" }]);
  });

  test.each([
    [["--conf", "tony.yarn.queue=ml"], "ml"],
    [["--conf", "tony.yarn.queue=default", "--queue", "ml"], "ml"],
    [[], "default"],
  ])("%j looks at the queue %s, and starts the runtime there", async (words, queue) => {
    await looked(words);
    expect(there.context.out.text).toMatch(new RegExp(`✓ queue +${queue}: `));
    expect(there.manager.submitted).toMatchObject([{ queue }]);
  });

  test("with --probe=false nothing is started, and nothing sent for it", async () => {
    expect(await looked(["--probe=false"])).toBe(ExitCode.succeeded);
    expect(there.context.out.text).not.toContain("nodes  ");
    expect([there.manager.submitted, there.cached()]).toEqual([[], []]);
  });

  test("nothing is started where something is wrong already", async () => {
    there.manager.stopped = ["ml"];
    expect(await looked(["--queue", "ml"])).toBe(ExitCode.cluster);
    expect(there.context.out.text).toContain("✗ queue");
    expect(there.manager.submitted).toEqual([]);
  });

  test("a runtime that does not start is found wrong", async () => {
    there.manager.taken = { state: "FAILED", finalStatus: "FAILED", diagnostics: "no such queue" };
    expect(await looked()).toBe(ExitCode.cluster);
    expect(there.context.out.text).toMatch(/ {2}✗ nodes +YARN refused the probe: no such queue\n/);
  });

  test.each([
    ["SIGINT", "Ctrl-C"],
    ["SIGTERM", "SIGTERM"],
    ["SIGHUP", "SIGHUP"],
  ] as const)("%s ends what was started", async (signal, by) => {
    const before = listening();
    there.manager.taken = { state: "ACCEPTED" };
    there.manager.onSubmit = () => process.emit(signal, signal);
    await expect(looked()).rejects.toMatchObject({ code: "STOPPED", message: expect.stringContaining(`by ${by} `) });
    expect(there.manager.killed).toMatchObject([{ reason: `killed by ${by} at the client` }]);
    expect(listening()).toEqual(before);
  });

  test("what is started and waits for its container says so", async () => {
    there.manager.taken = { state: "ACCEPTED" };
    let nowMs = there.context.now();
    expect(await looked([], { ...there.context, now: () => (nowMs += 10_000) })).toBe(ExitCode.succeeded);
    expect(there.context.err.text).toMatch(/^ {2}… nodes {12}waiting \d+ s for a container: \S/m);
    expect(there.context.out.text).toContain("the probe of 512 MiB did not run within 60 s: ");
  });
});

test("settings that mean nothing are found, as validate finds them, and so is a site's folder that is not there", async () => {
  const parsed = await parseArguments(["doctor", "--conf", "tony.history.max-jobs=two"], commands);
  if (!("run" in parsed)) throw new Error("nothing to run");
  const context = recordedContext({ environment: { HADOOP_HOME: "/nowhere", TONY_CONF_DIR: "/nonexist" } });
  expect(await parsed.run(context)).toBe(ExitCode.cluster);
  expect(context.out.text).toMatch(
    /^ {2}✗ settings +TONY_CONF_DIR: \/nonexist is not a folder, so no tony-site.xml is/m,
  );
  expect(context.out.text).toMatch(/^ {2}✗ settings +-conf: tony.history.max-jobs must be a whole number/m);
});

test("a machine without a folder for its jobs runs none, and the doctor says so", async () => {
  const parsed = await parseArguments(["doctor"], commands);
  if (!("run" in parsed)) throw new Error("nothing to run");
  const context = recordedContext({ environment: { HADOOP_HOME: "/nowhere", HOME: `${import.meta.filename}/x` } });
  await parsed.run(context);
  expect(context.out.text).toMatch(
    /this machine +.*; --scheduler local has no folder for its jobs, .*\/x\/\.local\/state\/tony-ts\/local: ENOTDIR.*\n +→ Set HOME or XDG/,
  );
});

test("a finding is wrapped below itself on a terminal, and one line in a pipe", () => {
  const finding = {
    subject: "HDFS",
    state: "wrong",
    found: "it cannot be written by ada, who is not its owner",
    remedy: "ask for a home",
  } as const;
  expect(rowsOf(finding, 50)).toBe(
    [
      "  ✗ HDFS             it cannot be written by ada,",
      "                       who is not its owner",
      "                     → ask for a home",
    ].join("\n"),
  );
  expect(rowsOf(finding, undefined).split("\n")).toHaveLength(2);
});

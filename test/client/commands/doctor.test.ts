import { expect, test } from "@jest/globals";
import { parseArguments } from "../../../client/command-line/arguments.ts";
import { commands } from "../../../client/commands/commands.ts";
// Loaded before the command does so, several at once, which Jest's loader cannot.
import "../../../client/applications/local-folder.ts";
import "../../../client/submission/doctor.ts";
import "../../../client/submission/doctor-settings.ts";
import "../../../client/submission/runtime-probe.ts";
import "../../../src/machine.ts";
import "../../support/loaded-client.ts";
import { describe } from "../../../client/commands/doctor.ts";
import { ExitCode } from "../../../src/errors.ts";
import { StandInCluster } from "../submission/stand-in-cluster.ts";
import { recordedContext } from "../support.ts";

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
  expect(describe(finding, 50)).toBe(
    [
      "  ✗ HDFS             it cannot be written by ada,",
      "                       who is not its owner",
      "                     → ask for a home",
    ].join("\n"),
  );
  expect(describe(finding, undefined).split("\n")).toHaveLength(2);
});

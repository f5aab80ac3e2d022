import { expect, test } from "@jest/globals";
import { configurationFolder, describeFolder } from "../../../client/cluster/hadoop-configuration.ts";
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

test("the configuration is looked for where Hadoop's own commands look, and named", () => {
  const environment = { HADOOP_HOME: "/opt/hadoop" };
  const usual = configurationFolder(environment, (file) => file === "/etc/hadoop/conf/core-site.xml");
  expect(usual).toEqual({ path: "/etc/hadoop/conf", namedBy: [] });
  expect(usual && describeFolder(usual)).toBe("HADOOP_CONF_DIR is not set; /etc/hadoop/conf is used");
  expect(configurationFolder(environment, () => true)?.path).toBe("/opt/hadoop/etc/hadoop");
  expect(configurationFolder({ ...environment, YARN_CONF_DIR: "/b" }, () => true)?.path).toBe("/b");
  expect(configurationFolder({ ...environment, HADOOP_CONF_DIR: "/a" }, () => true)?.path).toBe("/a");
  expect(configurationFolder({}, () => false)).toBeUndefined();
  const older = { HADOOP_PREFIX: "/opt/hadoop-2", HADOOP_YARN_HOME: "/usr/hdp/current/hadoop-yarn-client" };
  expect(configurationFolder(older, (file) => file.startsWith("/usr/hdp"))?.path).toBe(
    "/usr/hdp/current/hadoop-yarn-client/etc/hadoop",
  );
  expect(configurationFolder({ HADOOP_HOME: "/usr/hdp" }, (file) => file.includes("/conf/"))?.path).toBe(
    "/usr/hdp/conf",
  );
});

test("HADOOP_CONF_DIR may name several folders, and YARN_CONF_DIR another one beside", () => {
  const found = (environment: Record<string, string>) => {
    const folder = configurationFolder(environment, () => false);
    return folder && describeFolder(folder);
  };
  expect(found({ HADOOP_CONF_DIR: "/a:/b" })).toBe("HADOOP_CONF_DIR is /a:/b");
  expect(found({ HADOOP_CONF_DIR: "/a:" })).toBe("HADOOP_CONF_DIR is /a");
  expect(found({ HADOOP_CONF_DIR: ":" })).toBeUndefined();
  expect(found({ HADOOP_CONF_DIR: "/a", YARN_CONF_DIR: "/b:/a" })).toBe("HADOOP_CONF_DIR and YARN_CONF_DIR are /a:/b");
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

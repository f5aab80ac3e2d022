import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { Cluster } from "../../../client/cluster/cluster.ts";
import { readSiteSettings } from "../../../client/cluster/site-settings.ts";
import {
  environmentOfProbe,
  probeFinding as findingOf,
  inImage,
  lateFinding,
  type ProbeOptions,
  type ProbeSettings,
  probeRuntime,
  shipProbe,
} from "../../../client/submission/runtime-probe.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { readTokenFile } from "../../../src/hadoop/security/token-file.ts";
import { formatProbeReport, type ProbeReport } from "../../../src/job/launch/probe.ts";
import { environmentOf, StandInCluster } from "./stand-in-cluster.ts";

const settings: ProbeSettings = {
  fileSystem: "fs.defaultFS (core-site.xml:4) = hdfs://nn:8021",
  scheduler: "yarn.resourcemanager.scheduler.address (yarn-site.xml:9) = rm:8037",
};
const probeFinding = (report: Parameters<typeof findingOf>[0]) => findingOf(report, settings);

const failed = (stderr: string) =>
  probeFinding({
    finalStatus: "FAILED",
    diagnostics: `AM Container for appattempt_1_0001_000001 exited with  exitCode: 1\nLast 4096 bytes of stderr :\n${stderr}\n\n\nFor more`,
  });

test("a runtime that starts on a node is told with its release, what that node is, and what the scheduler counts", () => {
  const report = { host: "n1", version: "v22.23.3", architecture: "x64", glibc: "2.36", counted: "memory" } as const;
  const found = (change: Partial<ProbeReport> = {}) =>
    probeFinding({ finalStatus: "SUCCEEDED", diagnostics: formatProbeReport({ ...report, ...change }) });
  expect(found()).toEqual({
    subject: "nodes",
    state: "well",
    found:
      "the runtime starts in a container on n1 (x64, glibc 2.36): Node v22.23.3; the scheduler counts memory alone",
  });
  expect(found({ glibc: "", counted: "all" }).found).toBe(
    "the runtime starts in a container on n1 (x64, no glibc): Node v22.23.3; the scheduler counts memory, cores and other resources",
  );
  expect(found({ loopback: "127.0.1.1" })).toMatchObject({
    subject: "nodes",
    state: "remark",
    found: expect.stringContaining("on the node itself, its name leads to 127.0.1.1"),
    remedy: expect.stringMatching(/ give n1 its network address in \/etc\/hosts of the node$/),
  });
});

test("an application that YARN refused says nothing of the runtime", () => {
  const refusal =
    "Reject application application_1_0002 submitted by user ada application rejected by placement rules.";
  expect(probeFinding({ finalStatus: "FAILED", diagnostics: refusal })).toEqual({
    subject: "nodes",
    state: "wrong",
    found: `YARN refused the probe: ${refusal}`,
    remedy: "jobs would be refused likewise: choose another queue (--queue)",
  });
});

test("a long refusal is told by its beginning", () => {
  const { found } = probeFinding({ finalStatus: "FAILED", diagnostics: `\n${"x".repeat(400)}` });
  expect(found).toBe(`YARN refused the probe: ${"x".repeat(300)}`);
});

test("what our program says without a remedy gets none", () => {
  expect(failed("tony-ts: the ApplicationMaster cannot start: its disk is full")).toEqual({
    subject: "nodes",
    state: "wrong",
    found: "its disk is full",
  });
});

test("one that starts but is too old is wrong, in the words of the program that found it", () => {
  const said =
    "tony-ts: the ApplicationMaster cannot start: Node v18.20.8 is too old for tony-ts: set tony.node.binary to 20.19 or newer";
  expect(failed(said)).toEqual({
    subject: "nodes",
    state: "wrong",
    found: "Node v18.20.8 is too old for tony-ts",
    remedy: "set tony.node.binary to 20.19 or newer",
  });
});

test("one that does not start is wrong, in the node's words", () => {
  expect(
    failed("bash: line 4: /opt/node: cannot execute\ntony-ts: 'am.cjs' could not be started by '/opt/node'"),
  ).toEqual({
    subject: "nodes",
    state: "wrong",
    found: "the runtime does not start in a container: bash: line 4: /opt/node: cannot execute",
    remedy: expect.stringContaining("tony.node.binary"),
  });
});

test("a node that cannot reach the ResourceManager is wrong, with where it looked", () => {
  expect(
    failed("tony-ts: the ApplicationMaster cannot start: n1 cannot register with the ResourceManager at rm:8030"),
  ).toEqual({
    subject: "nodes",
    state: "wrong",
    found: "n1 cannot register with the ResourceManager at rm:8030",
    remedy: "the nodes must reach yarn.resourcemanager.scheduler.address (yarn-site.xml:9) = rm:8037",
  });
});

test("a node that cannot copy the runtime says so, with the setting that names the file system", () => {
  const diagnostics =
    "Application application_1_0003 failed 1 times due to AM Container for appattempt_1_0003_000001 exited with  exitCode: -1000\n" +
    "Failing this attempt.Diagnostics: [2026-11-22 03:12:00.000]Call From n1/10.0.0.1 to nn:8021 failed on connection exception: " +
    "java.net.ConnectException: Connection refused; For more details see:  http://wiki.apache.org/hadoop/ConnectionRefused\n\tat x";
  expect(probeFinding({ finalStatus: "FAILED", diagnostics })).toEqual({
    subject: "nodes",
    state: "wrong",
    found:
      "a node cannot copy the runtime: Call From n1/10.0.0.1 to nn:8021 failed on connection exception: java.net.ConnectException: Connection refused",
    remedy: "the nodes must reach the file system of fs.defaultFS (core-site.xml:4) = hdfs://nn:8021",
  });
});

describe("a node that cannot start a container at all says why, which is not the runtime's fault", () => {
  const ended = (exitCode: number, reason: string) =>
    probeFinding({
      finalStatus: "FAILED",
      diagnostics: `Application application_1_0004 failed 1 times due to AM Container for appattempt_1_0004_000001 exited with  exitCode: ${exitCode}
Failing this attempt.Diagnostics: [2026-11-24 07:06:04.831]Exception from container-launch.
Container id: container_1_0004_01_000001
Exit code: ${exitCode}
Exception message: Launch container failed
${reason}
For more detailed output, check the application tracking page`,
    });
  const wrong = (said: string) => ({
    subject: "nodes",
    state: "wrong",
    found: `a node cannot start a container: ${said}`,
    remedy: "its NodeManager's log says more; docs/guide/images.md says what an image must have",
  });

  test("where there is no such image", () => {
    const said = "Unable to find image 'nope:1' locally\ndocker: Error response from daemon: no such host";
    const reason = `Shell error output: ${said}\n\nRun 'docker run --help' for more information\n\n\n[2026-11-24 07:06:04.848]Container exited`;
    expect(ended(125, reason)).toEqual(wrong(said));
  });

  test("where the image lacks what YARN's own script runs", () => {
    const said = "find: unrecognized: -ls\nBusyBox v1.35.0 multi-call binary.";
    const reason = `
[2026-11-24 07:03:43.756]Container exited with a non-zero exit code 1. Error file: prelaunch.err.
Last 4096 bytes of prelaunch.err :
${said}

Usage: find [-HL] [PATH]... [OPTIONS] [ACTIONS]
`;
    expect(ended(1, reason)).toEqual(wrong(said));
  });

  test("but not where the runtime itself was started", () => {
    const reason = `Shell error output: main : command provided 1

Last 4096 bytes of prelaunch.err :
Last 4096 bytes of stderr :
bash: line 4: ./node: cannot execute

`;
    expect(ended(126, reason).found).toBe(
      "the runtime does not start in a container: bash: line 4: ./node: cannot execute",
    );
  });
});

test("the probe runs in the image of ApplicationMasters, which is told", () => {
  const image = { YARN_CONTAINER_RUNTIME_TYPE: "docker", YARN_CONTAINER_RUNTIME_DOCKER_IMAGE: "ml/base:1" };
  const configuration = new Configuration().withValues({ "yarn.resourcemanager.hostname": "rm" });
  expect(environmentOfProbe(configuration, image)).toMatchObject(image);
  expect(Object.keys(environmentOfProbe(configuration, undefined))).toHaveLength(1);
  const finding = { subject: "nodes", state: "well", found: "it starts" } as const;
  expect(inImage(finding, image)).toEqual({ ...finding, found: "it starts; asked for in the image ml/base:1" });
  expect(inImage(finding, undefined)).toBe(finding);
});

test("one that did not run in time says why: without a node that may run it no job runs, and room comes by itself", () => {
  const noNode = { code: "am-no-node", queue: "ml", active: 1, labels: ["gpu"], lost: ["n1"], unhealthy: [] } as const;
  expect(lateFinding(noNode)).toEqual({
    subject: "nodes",
    state: "wrong",
    found:
      "the probe of 512 MiB did not run within 60 s: the AM may run only on a node without a label in queue ml, and none is active: " +
      "1 active node (label gpu); lost: n1",
    remedy: "start such a node, or choose another queue (--queue)",
  });
  const late = { subject: "nodes", found: expect.stringMatching(/^the probe of 512 MiB did not run within 60 s: /) };
  expect(lateFinding({ code: "am-queue-full", queue: "ml" })).toMatchObject({
    ...late,
    state: "remark",
    remedy: "try again when there is room",
  });
  expect(lateFinding({ code: "am-starting" })).toMatchObject({
    ...late,
    state: "remark",
    remedy: expect.stringContaining("slow"),
  });
});

describe("a probe of a cluster", () => {
  let there: StandInCluster;
  let cluster: Cluster;
  beforeEach(async () => {
    there = await StandInCluster.start();
    cluster = await there.open();
  });
  afterEach(() => there.stop());

  const ship = () => {
    const settings = [`tony.staging-dir=file://${there.staging}`, "tony.node.binary=local:/opt/node"];
    return shipProbe(cluster, readSiteSettings(settings, there.context), there.context);
  };
  const probe = async (stop = new AbortController(), changes: Partial<ProbeOptions> = {}) => {
    const watch = { image: undefined, now: there.context.now, stop: stop.signal, tell: () => undefined };
    return await probeRuntime(cluster, await ship(), { queue: "ml", ...watch, ...changes });
  };

  test("sends what jobs need, too, and runs our program alone, as a small application without a job", async () => {
    const report: ProbeReport = { host: "n1", version: "v22.0.0", architecture: "x64", glibc: "2.36", counted: "all" };
    const diagnostics = formatProbeReport(report);
    there.manager.taken = { state: "FINISHED", finalStatus: "SUCCEEDED", diagnostics };
    expect(await probe()).toMatchObject({ state: "well", found: expect.stringContaining("on n1 (x64, glibc 2.36)") });
    expect(there.cached()).toEqual(["am.cjs", "executor.cjs"]);
    const [application = {}] = there.manager.submitted;
    expect(application).toMatchObject({
      ...{ application_name: "tony-ts doctor", applicationType: "TONY", queue: "ml", maxAppAttempts: 1 },
      ...{ cancel_tokens_when_complete: true, resource: { virtual_cores: 1 } },
    });
    expect(Number(application.resource?.memory)).toBe(512);
    expect(readTokenFile(Buffer.from(application.am_container_spec?.tokens ?? [])).tokens).toEqual([]);
    expect(application.am_container_spec?.command).toEqual([expect.stringMatching(/'\/opt\/node' .*'am\.cjs'/)]);
    expect(environmentOf(application)).toHaveProperty("TONY_PROBE");
    expect(application.am_container_spec?.localResources?.map(({ key }) => key)).toEqual(["am.cjs"]);
    expect(there.applications()).toEqual([]);
  });

  test("runs in the image of ApplicationMasters, and says so", async () => {
    const image = { YARN_CONTAINER_RUNTIME_TYPE: "docker", YARN_CONTAINER_RUNTIME_DOCKER_IMAGE: "ml/base:1" };
    there.manager.taken = { state: "FAILED", finalStatus: "FAILED", diagnostics: "no room" };
    expect((await probe(undefined, { image })).found).toBe(
      "YARN refused the probe: no room; asked for in the image ml/base:1",
    );
    expect(environmentOf(there.manager.submitted[0] ?? {})).toMatchObject(image);
  });

  test.each([
    [
      "copy",
      "exitCode: -1000\nDiagnostics: [now] no route",
      "a node cannot copy the runtime: no route",
      /^the nodes must reach the file system of fs\.defaultFS .*= hdfs:\/\/nowhere:8020$/,
    ],
    [
      "register",
      "exitCode: 1\nLast 4096 bytes of stderr :\ntony-ts: n1 cannot register with the ResourceManager\n\n",
      "n1 cannot register with the ResourceManager",
      /^the nodes must reach yarn\.resourcemanager\.scheduler\.address .*= 127\.0\.0\.1:\d+$/,
    ],
  ])("of a node that cannot %s says what is configured here", async (_what, diagnostics, found, remedy) => {
    there.manager.taken = { state: "FAILED", finalStatus: "FAILED", diagnostics };
    expect(await probe()).toMatchObject({ state: "wrong", found, remedy: expect.stringMatching(remedy) });
  });

  test("says what it waits for once that takes longer, and is ended after a minute", async () => {
    there.manager.taken = { state: "ACCEPTED" };
    const told: [number, string][] = [];
    let nowMs = 0;
    const patience = {
      now: () => (nowMs += 1_000),
      tell: (waitedMs: number, why: string) => void told.push([waitedMs, why]),
    };
    const { found } = await probe(undefined, patience);
    expect(found).toMatch(/^the probe of 512 MiB did not run within 60 s: /);
    expect(found.endsWith(told.at(-1)?.[1] ?? "?")).toBe(true);
    const waitedMs = told.map(([waited]) => waited);
    expect([Math.min(...waitedMs), Math.max(...waitedMs) < 60_000]).toEqual([2_000, true]);
    expect(there.manager.killed).toMatchObject([{ reason: "the probe took too long" }]);
  });

  test("that cannot be submitted is the error, and no application is followed", async () => {
    const refusal = new Error("no way there");
    jest.spyOn(cluster.resourceManager, "submit").mockRejectedValue(refusal);
    await expect(probe()).rejects.toBe(refusal);
    expect(there.manager.killed).toEqual([]);
  });

  test("that is stopped before is none", async () => {
    const stop = new AbortController();
    stop.abort("Ctrl-C");
    await expect(probe(stop)).rejects.toMatchObject({ code: "NOT_SUBMITTED" });
    expect(there.manager.submitted).toEqual([]);
  });
});

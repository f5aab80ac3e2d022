import { describe, expect, test } from "@jest/globals";
import { checkKeys } from "../../src/job/build/check-keys.ts";
import type { KeyDefinition } from "../../src/job/keys/key.ts";
import { findKey } from "../../src/job/keys.ts";
import { mergeSettings } from "../../src/job/settings.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import { tonyKeys } from "../fixtures/tony/names.ts";
import { jobSettings, specOf } from "./support.ts";

/** As a job with a role worker and a group G has it. */
const written = (key: string) => key.replace("<role>", "worker").replace("<G>", "G").replace("<res>", "gpus");
const rowOf = (key: string): KeyDefinition | undefined => findKey(written(key))?.definition;

describe("TonY's keys", () => {
  test("all have a row in the table", () => {
    expect(tonyKeys.filter((key) => rowOf(key) === undefined)).toEqual([]);
  });

  const ignored = tonyKeys.filter((key) => rowOf(key)?.support === "ignored-with-warning" && !rowOf(key)?.quiet);
  test.each(ignored)("%s, which has nothing to act on here, is accepted with one line that says why", (key) => {
    const { default: text = "x" } = rowOf(key) ?? {};
    const said = checkKeys(mergeSettings(jobSettings({ "tony.worker.instances": "1", [written(key)]: text })).settings);
    expect(said).toEqual([
      expect.objectContaining({
        severity: "warning",
        message: expect.stringMatching(new RegExp(`^${written(key).replaceAll(".", "\\.")} has no effect: \\w+`)),
      }),
    ]);
  });

  test("tony.application.security.enabled is accepted without a word: every file of an open cluster has it", () => {
    const job = jobSettings({ "tony.worker.instances": "1", "tony.application.security.enabled": "false" });
    expect(checkKeys(mergeSettings(job).settings)).toEqual([]);
  });
});

describe("what a TonY job says reaches the spec that its ApplicationMaster reads", () => {
  test.each<[key: string, value: string, read: (spec: JobSpec) => unknown, expected: unknown]>([
    ["tony.application.name", "bert", (spec) => spec.name, "bert"],
    ["tony.application.type", "SPARK", (spec) => spec.applicationType, "SPARK"],
    ["tony.application.tags", "a,b", (spec) => spec.tags, ["a", "b"]],
    ["tony.yarn.queue", "ml", (spec) => spec.queue, "ml"],
    ["tony.application.framework", "PyTorch", (spec) => spec.framework, "pytorch"],
    ["tony.application.distributed-mode", "FCFS", (spec) => spec.distributedMode, "fcfs"],
    ["tony.application.timeout", "60000", (spec) => spec.timeouts.applicationMs, 60_000],
    ["tony.application.tensorboard-log-dir", "/logs", (spec) => spec.sidecarTensorBoardLogDir, "/logs"],
    ["tony.other.namenodes", "hdfs://a,hdfs://b", (spec) => spec.otherNameNodes, ["hdfs://a", "hdfs://b"]],
    ["tony.am.vcores", "3", (spec) => spec.am.resource.vcores, 3],
    ["tony.am.gpus", "1", (spec) => spec.am.resource.others, { "yarn.io/gpu": 1 }],
    ["tony.am.node-label", "cpu", (spec) => spec.am.nodeLabel, "cpu"],
    ["tony.am.retry-count", "2", (spec) => spec.failure.budgets.program, 2],
    ["tony.am.startup-timeout", "5000", (spec) => spec.timeouts.startupMs, 5_000],
    ["tony.task.heartbeat-interval-ms", "500", (spec) => spec.timeouts.heartbeatIntervalMs, 500],
    ["tony.task.max-missed-heartbeats", "25", (spec) => spec.timeouts.heartbeatExpiryMs, 25_000],
    ["tony.task.metrics-interval-ms", "200", (spec) => spec.timeouts.metricsIntervalMs, 200],
    ["tony.task.gpu-metrics.enabled", "false", (spec) => spec.metrics.gpus, false],
    ["tony.gpu-exec-path", "/opt/nvidia", (spec) => spec.metrics.nvidiaSmi, "/opt/nvidia"],
    ["tony.task.executor.execution-timeout-ms", "7000", (spec) => spec.timeouts.executionMs, 7_000],
    ["tony.task.executor.execution.error-message-max-depth", "5", (spec) => spec.failure.outputLines, 5],
    ["tony.container.allocation.timeout", "9000", (spec) => spec.timeouts.allocationMs, 9_000],
    ["tony.container.registration.timeout", "-1", (spec) => spec.timeouts.registrationMs, undefined],
    ["tony.history.location", "/h", (spec) => spec.history.location, "/h"],
    ["tony.history.intermediate", "/h/i", (spec) => spec.history.intermediate, "/h/i"],
    ["tony.history.finished", "/h/f", (spec) => spec.history.finished, "/h/f"],
    ["tony.history.finished-dir-timezone", "Asia/Tokyo", (spec) => spec.history.timeZone, "Asia/Tokyo"],
  ])("%s = %s", (key, value, read, expected) => {
    expect(read(specOf({ [key]: value }))).toEqual(expected);
  });

  test("tony.application.stop-on-failure-jobtypes and the two lists of roles that are not waited for", () => {
    const { roles } = specOf({
      "tony.data.instances": "1",
      "tony.watch.instances": "1",
      "tony.application.stop-on-failure-jobtypes": "worker",
      "tony.application.untracked.jobtypes": "data",
      "tony.application.sidecar.jobtypes": "watch",
    });
    expect(roles.map(({ name, tracking, stopOnFailure }) => [name, tracking, stopOnFailure])).toEqual([
      ["worker", "tracked", true],
      ["data", "untracked", false],
      ["watch", "sidecar", false],
    ]);
  });

  test("tony.driver.command: a role of that name is one as any other", () => {
    const { roles } = specOf({ "tony.driver.instances": "1", "tony.driver.command": "drive" });
    expect(roles[1]).toMatchObject({ name: "driver", instances: 1, command: "drive" });
  });
});

import { describe, expect, test } from "@jest/globals";
import { Properties } from "properties-file/parser";
import { isTonyFlow, migrateFlow } from "../../../client/migration/azkaban-job.ts";

test("a property of another type of job is named with the key that TonY has for it", () => {
  const flow = new Properties("type=TonYJob\nqueue=ml\nmapreduce.job.queuename=ml\nname=x\nretries=2\n");
  const { text, remarks } = migrateFlow(flow, "a.job");
  expect(text).toContain("queue=ml\n");
  expect(remarks.slice(1).map(({ kind, message }) => `${kind}: ${message}`)).toEqual([
    "stays: queue: neither TonY nor tony-ts reads it; the key is tony.yarn.queue",
    "stays: mapreduce.job.queuename: neither TonY nor tony-ts reads it; the key is tony.yarn.queue",
    "stays: name: neither TonY nor tony-ts reads it; the key is tony.application.name",
    "stays: retries",
  ]);
});

describe("a job of Azkaban's", () => {
  test("may have the type that TonY's had before", () => {
    const flow = new Properties("type=TensorFlowJob\ntony.worker.instances=4\n");
    expect(isTonyFlow(flow)).toBe(true);
    expect(migrateFlow(flow, "train.job").text).toBe("type=tony-ts\ntony.worker.instances=4\n");
  });

  test("stays as it is but for its type and what has no meaning", () => {
    const before = [
      "# the training",
      "type=TonYJob",
      "dependencies=prepare",
      "tony.worker.instances = 4",
      "tony.default.jvm.opts=-Xmx1g",
      "tony.task.executor.jvm.opts=\\",
      "  -Xmx2g",
      "tony.task.heartbeat-interval=2000",
      "hdfs_classpath=/lib",
      "worker_env.RATE=0.1",
      "",
    ];
    const { text, remarks } = migrateFlow(new Properties(before.join("\n")), "train.job");
    expect(text.split("\n")).toEqual([
      "# the training",
      "type=tony-ts",
      "dependencies=prepare",
      "tony.worker.instances = 4",
      "tony.task.heartbeat-interval-ms=2000",
      "hdfs_classpath=/lib",
      "worker_env.RATE=0.1",
      "",
    ]);
    expect(remarks[0]?.message).toBe("type becomes tony-ts");
    expect(remarks[3]?.message).toBe("tony.default.jvm.opts has no effect: there is no JVM");
    expect(remarks.map(({ at, kind }) => `${at} ${kind}`)).toEqual([
      "train.job:2 changes",
      "train.job:3 stays",
      "train.job:4 stays",
      "train.job:5 no-meaning",
      "train.job:6 no-meaning",
      "train.job:8 changes",
      "train.job:9 stays",
      "train.job:10 stays",
    ]);
  });

  test.each([
    ["type=TonYJob", true],
    ["type=tony-ts\ntony.worker.instances=1", false],
    ["type=spark", false],
    ["tony.worker.instances=1", true],
    ["retries=1\ntony.worker.instances=1", true],
    ["retries=1", false],
  ])("with %j is TonY's: %s", (text, expected) => {
    expect(isTonyFlow(new Properties(text))).toBe(expected);
  });
});

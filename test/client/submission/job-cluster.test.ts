import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { variablesOf } from "../../../client/context.ts";
import { JobCluster } from "../../../client/submission/job-cluster.ts";
import { readJob } from "../../../src/job/build/load-job.ts";
import { recordedContext } from "../support.ts";

const folder = mkdtempSync(join(tmpdir(), "tony-job-cluster-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a job's cluster is opened once, whoever asks for it, and a person is told once what is guessed of it", async () => {
  for (const [file, key, value] of [
    ["core-site.xml", "fs.defaultFS", "hdfs://nn:8020"],
    ["yarn-site.xml", "yarn.resourcemanager.address", "rm:8032"],
  ] as const) {
    const property = `<property><name>${key}</name><value>${value}</value></property>`;
    writeFileSync(join(folder, file), `<configuration>${property}</configuration>`);
  }
  const context = recordedContext({ environment: { HADOOP_CONF_DIR: folder } });
  const text = readJob({ conf: ["tony.worker.command=true"] }, { variables: variablesOf(context) });
  const place = new JobCluster(text, context);
  const [one, other] = await Promise.all([place.open(), place.open()]);
  await place.close();
  await expect(one.cluster.resourceManager.report("application_1_0001")).rejects.toMatchObject({ code: "RPC_CLOSED" });
  expect(other).toBe(one);
  expect(context.err.text.match(/ApplicationMasters look for the ResourceManager/g)).toHaveLength(1);
});

test("of one that was never asked for nothing is opened, and there is nothing to close", async () => {
  const context = recordedContext({});
  const place = new JobCluster(readJob({ conf: [] }, { variables: variablesOf(context) }), context);
  await expect(place.close()).resolves.toBeUndefined();
  await expect(place.open()).rejects.toMatchObject({ code: "NO_CLUSTER" });
  await expect(place.close()).resolves.toBeUndefined();
});

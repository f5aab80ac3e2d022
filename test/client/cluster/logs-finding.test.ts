import { expect, test } from "@jest/globals";
import { logsFinding } from "../../../client/cluster/logs-finding.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";

const found = (values: Record<string, string>) => logsFinding(new Configuration().withValues(values), "ada");
const kept = { "yarn.log-aggregation-enable": "true" };
const controller = "yarn.log-aggregation.file-controller";

test("a cluster that keeps no logs is remarked on", () => {
  expect(found({})).toMatchObject({ state: "remark", found: expect.stringContaining("does not keep logs") });
});

test("folder and formats are named", () => {
  expect(found(kept)).toEqual({ subject: "logs", state: "well", found: "kept in /tmp/logs/ada as TFile" });
  const indexed = {
    ...kept,
    "yarn.log-aggregation.file-formats": "IFile,TFile",
    [`${controller}.IFile.class`]:
      "org.apache.hadoop.yarn.logaggregation.filecontroller.ifile.LogAggregationIndexedFileController",
    "yarn.log-aggregation.IFile.remote-app-log-dir": "hdfs://ns/indexed/",
  };
  expect(found(indexed)).toMatchObject({
    state: "well",
    found: "kept in hdfs://ns/indexed/ada as IFile (indexed files), TFile",
  });
});

test("a format that tony-ts does not read is remarked on, with what reads it", () => {
  const ours = { ...kept, "yarn.log-aggregation.file-formats": "Ours,TFile" };
  expect(found({ ...ours, [`${controller}.Ours.class`]: "com.example.Ours" })).toEqual({
    subject: "logs",
    state: "remark",
    found: "kept in /tmp/logs/ada as Ours (com.example.Ours), TFile",
    remedy: "tony-ts reads TFile and indexed files only; for Ours use: yarn logs -applicationId ID",
  });
  expect(found(ours).found).toContain("Ours (no class is configured for it)");
});

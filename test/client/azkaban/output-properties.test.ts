import { describe, expect, test } from "@jest/globals";
import { outputProperties } from "../../../client/azkaban/output-properties.ts";
import { aJobStatus, allSucceeded, noonishMs } from "../job-status.ts";

const end = {
  id: "application_1795305600000_0009",
  trackingUrl: "http://rm:8088/proxy/application_1795305600000_0009/",
};
const outcome = { ...allSucceeded, endedAtMs: noonishMs };
const output = { what: "output", state: "done", files: 1, bytes: 9, step: 0, atMs: noonishMs, reason: "" } as const;

describe("the output properties of a flow's job", () => {
  test("say which application it was and how it ended", () => {
    expect(outputProperties({ ...end, outcome, status: undefined })).toEqual({
      "tonyts.application.id": end.id,
      "tonyts.final.status": "SUCCEEDED",
      "tonyts.summary": outcome.summary,
      "tonyts.tracking.url": end.trackingUrl,
    });
  });

  test("name what the programs reported and left", () => {
    const status = aJobStatus({
      checkpoint: { path: "hdfs:///user/ada/ckpt/1800", step: 1_800, atMs: noonishMs },
      tasks: [
        {
          task: "worker:0",
          state: "succeeded",
          restarts: 0,
          transfers: [{ ...output, url: "hdfs:///out/worker-0" }],
          metrics: { loss: 0.4, "eval/top@1": 0.961 },
        },
        {
          task: "worker:2",
          state: "failed",
          restarts: 0,
          transfers: [{ ...output, what: "checkpoint", url: "hdfs:///ckpt/worker-2" }],
        },
        { task: "data-prep:1", state: "succeeded", restarts: 0, transfers: [{ ...output, url: "hdfs:///out/data" }] },
        {
          task: "worker:1",
          state: "succeeded",
          restarts: 0,
          transfers: [{ ...output, url: "hdfs:///out/worker-1", state: "failed" }],
        },
      ],
    });
    const failed = { ...outcome, result: "failed", summary: "worker:2 exited 1" } as const;
    expect(outputProperties({ ...end, outcome: failed, status })).toEqual({
      "tonyts.application.id": end.id,
      "tonyts.final.status": "FAILED",
      "tonyts.summary": "worker:2 exited 1",
      "tonyts.tracking.url": end.trackingUrl,
      "tonyts.checkpoint.path": "hdfs:///user/ada/ckpt/1800",
      "tonyts.checkpoint.step": "1800",
      "tonyts.output.worker.0": "hdfs:///out/worker-0",
      "tonyts.output.data_prep.1": "hdfs:///out/data",
      "tonyts.metric.worker.0.loss": "0.4",
      "tonyts.metric.worker.0.eval_top_1": "0.961",
    });
  });

  test("have names that Azkaban can refer to, and none is a setting of the next job", () => {
    for (const name of Object.keys(outputProperties({ ...end, outcome, status: aJobStatus() }))) {
      expect(name).toMatch(/^(?!tony\.)[a-zA-Z0-9_.]+$/);
    }
  });
});

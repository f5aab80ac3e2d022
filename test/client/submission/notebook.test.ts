import { describe, expect, test } from "@jest/globals";
import { variablesOf } from "../../../client/context.ts";
import { notebookDestination } from "../../../client/sessions/notebook-job.ts";
import { confOf, forwardOptions, NotebookView, runNotebook } from "../../../client/submission/notebook.ts";
import { ExitCode } from "../../../src/errors.ts";
import { readJob } from "../../../src/job/build/load-job.ts";
import type { TaskState } from "../../../src/job/status.ts";
import { aJobStatus } from "../job-status.ts";
import { recordedContext } from "../support.ts";
import { StandInCluster } from "./stand-in-cluster.ts";

import "../../support/loaded-client.ts";

describe("the way to a notebook", () => {
  const way = (terminal: boolean) => forwardOptions(4_711, "a&b", recordedContext({ terminal }).output);
  const shown = (terminal: boolean) => way(terminal).show("127.0.0.1:4711", { task: "notebook:0", port: 8_888 });

  test("is shown with its token on a terminal alone: a pipe may lead to a log", () => {
    expect(shown(true)).toBe("JupyterLab of notebook:0:\n  http://127.0.0.1:4711/lab?token=a%26b\nCtrl-C ends the job");
    expect(shown(false)).toBe(
      "JupyterLab of notebook:0:\n  http://127.0.0.1:4711/lab (its token is in JUPYTER_TOKEN)\nCtrl-C ends the job",
    );
  });

  test("leads from the port that is named, to what has five minutes to listen", () => {
    expect(way(false)).toMatchObject({
      ...{ localPort: 4_711, json: false, listensWithinMs: 300_000, find: notebookDestination },
    });
  });

  test("is found by the job's own settings; the site's are read again", () => {
    const context = recordedContext({});
    const properties = new Map([["tony.staging-dir", "hdfs:///staging"]]);
    const text = readJob({ conf: ["tony.yarn.queue=ml"], properties }, { variables: variablesOf(context) });
    expect(confOf(text).sort()).toEqual(["tony.staging-dir=hdfs:///staging", "tony.yarn.queue=ml"]);
    const [setting] = text.settings.values();
    const ofSite = setting && new Map([["tony.yarn.queue", { ...setting, layer: "site" as const }]]);
    expect(confOf({ ...text, settings: ofSite ?? new Map() })).toEqual([]);
  });
});

test("a notebook's job is submitted to the cluster and followed to its end, in words", async () => {
  const there = await StandInCluster.startWithSuccess();
  try {
    const choices = { token: "a&b", localPort: undefined };
    expect(await runNotebook(there.job(), choices, there.context)).toBe(ExitCode.succeeded);
    const lines = there.context.out.text.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^application_1795305600000_0001 {2}bert · queue default/);
    expect(lines.at(-1)).toMatch(/SUCCEEDED/);
    expect(there.context.out.text).not.toContain("JupyterLab of");
  } finally {
    await there.stop();
  }
});

test("a notebook is shown like any job, and reported each time that it is seen to run", () => {
  const { output, out, now } = recordedContext({});
  let reports = 0;
  const view = new NotebookView(output, now, () => {
    reports += 1;
  });
  const show = (state: TaskState) =>
    view.show(aJobStatus({ tasks: [{ task: "notebook:0", state, restarts: 0, host: "n1", port: 8_888 }] }));
  show("registered");
  expect(reports).toBe(0);
  show("running");
  expect(reports).toBe(1);
  expect(out.text).not.toBe("");
});

import { describe, expect, test } from "@jest/globals";
import { notebookDestination, notebookSettings } from "../../../client/sessions/notebook-job.ts";
import type { TaskStatus } from "../../../src/job/status.ts";
import { aJobStatus } from "../job-status.ts";

describe("the job of a notebook", () => {
  test("runs the interpreter that is named, on loopback, and ends when it is idle", () => {
    const command = notebookSettings("my python", 90_000).get("tony.notebook.command");
    expect(command).toContain("exec 'my python' -m jupyterlab --no-browser --ServerApp.ip=127.0.0.1");
    expect(command).toContain("--ServerApp.shutdown_no_activity_timeout=90 ");
    expect(command).toContain("--MappingKernelManager.cull_idle_timeout=90 --MappingKernelManager.cull_interval=60 ");
    expect(notebookSettings("python3", 100).get("tony.notebook.command")).toContain("cull_idle_timeout=1 ");
  });

  test("is reached at its port while it runs", () => {
    const at = (changes: Partial<TaskStatus>) =>
      notebookDestination(aJobStatus({ tasks: [{ task: "notebook:0", state: "running", restarts: 0, ...changes }] }));
    expect(at({ port: 4001 })).toEqual({ task: "notebook:0", port: 4001 });
    expect(at({ port: 4001, state: "registered" })).toBeUndefined();
    expect(at({})).toBeUndefined();
  });

  test("never ends by itself where that is wanted", () => {
    expect(notebookSettings("python3", undefined).get("tony.notebook.command")).not.toContain("timeout");
  });
});

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
    expect(notebookSettings("python3", 100).get("tony.notebook.command")).toMatch(
      / --ServerApp\.shutdown_no_activity_timeout=1 --MappingKernelManager\.cull_idle_timeout=1 --MappingKernelManager\.cull_interval=1 --MappingKernelManager\.cull_connected=True$/,
    );
  });

  test("is one task, which is not started again, and keeps its files to itself in its working directory", () => {
    const settings = notebookSettings("python3", undefined);
    const { "tony.notebook.command": command = "", ...others } = Object.fromEntries(settings);
    expect(others).toEqual({
      "tony.application.framework": "standalone",
      "tony.notebook.instances": "1",
      "tony.am.retry-count": "0",
    });
    expect(command.split("; ").slice(-4)).toEqual([
      'mkdir -p -m 700 "$PWD/.jupyter"',
      'export JUPYTER_RUNTIME_DIR="$PWD/.jupyter/runtime" JUPYTER_DATA_DIR="$PWD/.jupyter/data"',
      'export JUPYTER_CONFIG_DIR="$PWD/.jupyter/config" IPYTHONDIR="$PWD/.ipython"',
      'exec python3 -m jupyterlab --no-browser --ServerApp.ip=127.0.0.1 --ServerApp.port="$TONY_PORT" --ServerApp.port_retries=0',
    ]);
    expect(command).toMatch(
      /^if ! python3 -c 'import jupyterlab'; then echo python3 "on \$NM_HOST has no JupyterLab: name a Python that has it, by --python_binary_path \(tony\.python-exec-path\), or send one by --python_venv" >&2; exit 1; fi; /,
    );
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

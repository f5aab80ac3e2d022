import { shellWords } from "../../src/job/shell-words.ts";
import type { JobStatus } from "../../src/job/status.ts";
import type { Destination } from "./forward.ts";

/** The role that runs JupyterLab. */
const ROLE = "notebook";
/**
 * The settings of a job with one JupyterLab. It listens on its node's loopback only, and is reached through the job's own channel. Its
 * files are in the working directory, because containers need not have a home directory that they may write to.
 * @param interpreter as the container's shell finds it
 * @param idleMs undefined: it does not end by itself
 */
export function notebookSettings(interpreter: string, idleMs: number | undefined): ReadonlyMap<string, string> {
  return new Map([
    ["tony.application.framework", "standalone"],
    [`tony.${ROLE}.instances`, "1"],
    [`tony.${ROLE}.command`, command(interpreter, idleMs)],
    ["tony.am.retry-count", "0"],
  ]);
}

/** Where it listens while it runs. */
export function notebookDestination({ tasks }: JobStatus): Destination | undefined {
  const running = tasks.find(({ task, state }) => task === `${ROLE}:0` && state === "running");
  return running?.port === undefined ? undefined : { task: running.task, port: running.port };
}

function command(interpreter: string, idleMs: number | undefined): string {
  const lacks =
    "has no JupyterLab: name a Python that has it, by --python_binary_path (tony.python-exec-path), or send one by --python_venv";
  const python = shellWords([interpreter]);
  return [
    `if ! ${python} -c 'import jupyterlab'; then echo ${python} "on $NM_HOST ${lacks}" >&2; exit 1; fi`,
    // One of JupyterLab's files there contains the token and may be readable by everybody (jpserver-PID-open.html).
    'mkdir -p -m 700 "$PWD/.jupyter"',
    'export JUPYTER_RUNTIME_DIR="$PWD/.jupyter/runtime" JUPYTER_DATA_DIR="$PWD/.jupyter/data"',
    'export JUPYTER_CONFIG_DIR="$PWD/.jupyter/config" IPYTHONDIR="$PWD/.ipython"',
    `exec ${python} -m jupyterlab --no-browser --ServerApp.ip=127.0.0.1 --ServerApp.port="$TONY_PORT" ${[
      "--ServerApp.port_retries=0",
      ...idleOptions(idleMs),
    ].join(" ")}`,
  ].join("; ");
}

/** A kernel that is computing is not idle; one whose page is open may be. */
function idleOptions(idleMs: number | undefined): string[] {
  if (idleMs === undefined) return [];
  const seconds = Math.max(1, Math.round(idleMs / 1_000));
  return [
    `--ServerApp.shutdown_no_activity_timeout=${seconds}`,
    `--MappingKernelManager.cull_idle_timeout=${seconds}`,
    `--MappingKernelManager.cull_interval=${Math.min(60, seconds)}`,
    "--MappingKernelManager.cull_connected=True",
  ];
}

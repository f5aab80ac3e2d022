import type { AmSpec, RoleSpec } from "../spec.ts";
import type { JobReader } from "./job-reader.ts";

/** As TonY's client names the task that runs in the ApplicationMaster's container. */
const DRIVER = "driver";
const COMMAND = "tony.am.command";
const PREPROCESS = "tony.application.enable-preprocess";

/**
 * The role of the task that runs in the ApplicationMaster's container: the only one of a job that asks for no tasks (TonY's single-node
 * mode), or the one that runs before all others (`tony.application.enable-preprocess`). Undefined where there is none, or nothing to run.
 * @param others the roles that the job asks for
 */
export function buildMasterRole(reader: JobReader, am: AmSpec, others: readonly RoleSpec[]): RoleSpec | undefined {
  const isOnly = others.every(({ tracking }) => tracking === "sidecar");
  if (!isOnly && !reader.read(PREPROCESS)) {
    if (reader.settings.get(COMMAND)?.layer !== "site" && reader.has(COMMAND)) {
      reader.warn(COMMAND, `has no effect: the job has tasks, and ${PREPROCESS} is not true`);
    }
    return undefined;
  }
  const command = (reader.read(COMMAND) ?? reader.read("tony.containers.command") ?? "").trim();
  if (command === "") {
    if (!isOnly)
      reader.error(PREPROCESS, "runs tony.am.command first, but neither that nor tony.containers.command is set");
    return undefined;
  }
  if (others.some(({ name }) => name === DRIVER)) {
    reader.error(
      PREPROCESS,
      `runs a task of role ${DRIVER}, and the job has a role of that name: call it something else`,
    );
    return undefined;
  }
  return {
    ...reader.section("role", { role: DRIVER }),
    name: DRIVER,
    instances: 1,
    // Whatever else the ApplicationMaster's container was given, its task finds there.
    resource: { memoryMiB: am.resource.memoryMiB, vcores: am.resource.vcores, others: {} },
    command,
    environment: { ...reader.read("tony.execution.envs"), PREPROCESSING_JOB: "true" },
    tracking: "tracked",
    stopOnFailure: false,
    chief: "none",
    reusePort: reader.read("tony.task.reuse-port"),
    files: am.files,
    inMaster: true,
  };
}

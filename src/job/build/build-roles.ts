import { errorMessage } from "../../hadoop/errors.ts";
import type { Resource, ResourceType } from "../../hadoop/yarn/records.ts";
import { findKey, type KeyName, keyFor } from "../keys.ts";
import { nearest } from "../nearest.ts";
import type { AmSpec, RoleSpec, Tracking } from "../spec.ts";
import { buildConstrained } from "./build-constrained.ts";
import { imageVariables } from "./build-images.ts";
import { isHorovodDriver } from "./check-framework.ts";
import { roleNames } from "./check-keys.ts";
import type { JobReader } from "./job-reader.ts";
import { parseResourceAmount } from "./resource-amounts.ts";
import { type VirtualMemoryCheck, virtualMemoryProblem } from "./virtual-memory.ts";

const TENSORBOARD = "tensorboard";

/** What is known about a cluster's containers. */
export interface ContainerFacts {
  /** The resource types that the cluster schedules; absent: unknown yet, every name is accepted. */
  readonly resourceTypes?: readonly ResourceType[];
  /** Absent: there is no such check, or it is unknown. */
  readonly virtualMemory?: VirtualMemoryCheck;
}

/** The roles that have tasks, in the job's order, each checked. */
export function buildRoles(reader: JobReader): RoleSpec[] {
  const names = roleNames(reader.settings).filter(
    (role) => (reader.read("tony.{role}.instances", { role }) ?? 0) > 0 && !isHorovodDriver(reader, role),
  );
  const logDir = reader.read("tony.application.tensorboard-log-dir");
  if (logDir !== undefined) checkOneTensorBoard(reader);
  if (logDir !== undefined && !names.includes(TENSORBOARD)) names.push(TENSORBOARD);
  checkRoleLists(reader, names);
  const hasChief = names.includes("chief");
  const roles = names.map((role) => buildRole(reader, role, { names, hasChief, logDir }));
  checkSharedCommand(reader, roles);
  return roles;
}

function checkOneTensorBoard(reader: JobReader): void {
  const instances = reader.read("tony.{role}.instances", { role: TENSORBOARD });
  if (instances === undefined || instances === 1) return;
  const own = "the one that tony.application.tensorboard-log-dir adds";
  reader.warn(keyFor("tony.{role}.instances", { role: TENSORBOARD }), `is ${instances}, but one runs: ${own}`);
}

/** Reports a shared command, such as --executes, that no role runs. With sidecars only, it runs in the ApplicationMaster's container. */
function checkSharedCommand(reader: JobReader, roles: readonly RoleSpec[]): void {
  const shared = "tony.containers.command";
  if (!reader.has(shared) || reader.read("tony.application.enable-preprocess")) return;
  if (roles.every(({ tracking }) => tracking === "sidecar")) return;
  if (roles.some(({ name }) => name !== TENSORBOARD && ownCommand(reader, name) === undefined)) return;
  reader.warn(shared, "has no effect: every role has a command of its own");
}

interface RoleContext {
  /** All roles of the job. */
  readonly names: readonly string[];
  readonly hasChief: boolean;
  readonly logDir: string | undefined;
}

function buildRole(reader: JobReader, role: string, { names, hasChief, logDir }: RoleContext): RoleSpec {
  const nodeLabel = reader.read("tony.{role}.node-label", { role }) ?? reader.read("tony.application.node-label");
  const image = imageVariables(reader, role);
  const constrained = buildConstrained(reader, role);
  const sidecarTensorBoard = role === TENSORBOARD && logDir !== undefined;
  const environment: Record<string, string> = {
    ...reader.read("tony.execution.envs"),
    ...(sidecarTensorBoard ? { TB_LOG_DIR: logDir } : {}),
    ...reader.read("tony.{role}.envs", { role }),
  };
  return {
    ...reader.section("role", { role }),
    name: role,
    instances: sidecarTensorBoard ? 1 : (reader.read("tony.{role}.instances", { role }) ?? 1),
    resource: readResource(reader, role),
    ...(nodeLabel === undefined ? {} : { nodeLabel }),
    ...(image === undefined ? {} : { image }),
    ...(constrained === undefined ? {} : { constrained }),
    command: sidecarTensorBoard ? (ownCommand(reader, role) ?? tensorBoard(reader)) : commandOf(reader, role, names),
    environment,
    tracking: sidecarTensorBoard ? "sidecar" : trackingOf(reader, role),
    stopOnFailure: reader.read("tony.application.stop-on-failure-jobtypes").includes(role),
    chief: role === "chief" ? "all" : role === "worker" && !hasChief ? "first" : "none",
    reusePort: reader.read("tony.task.reuse-port") || environment.TF_GRPC_REUSE_PORT === "true",
    files: reader.filesToShip("tony.{role}.resources", { role }),
  };
}

/**
 * The resource of each container of a role, or of the ApplicationMaster. Refuses a type that the cluster lacks, because the ResourceManager
 * drops it from the request without an error.
 */
export function readResource(
  reader: JobReader,
  role: string,
  { resourceTypes, virtualMemory }: ContainerFacts = {},
): Resource {
  const am = role === "am";
  const gpus = am ? reader.read("tony.am.gpus") : reader.read("tony.{role}.gpus", { role });
  const template: KeyName = am ? "tony.am.resource.{resource}" : "tony.{role}.resource.{resource}";
  const others: Record<string, number> = {};
  const add = (key: string, name: string, text: string): void => {
    try {
      const amount = parseResourceAmount(key, name, text, resourceTypes);
      if (amount > 0) others[name] = amount;
    } catch (error) {
      reader.error(key, errorMessage(error));
    }
  };
  const [gpuType] = reader.read("tony.gpu-resource-types");
  if (gpus > 0 && gpuType !== undefined) {
    add(keyFor(am ? "tony.am.gpus" : "tony.{role}.gpus", { role }), gpuType, String(gpus));
  }
  for (const { key, value } of reader.settings.values()) {
    const found = findKey(key);
    if (found?.name !== template || found.parameters.resource === undefined) continue;
    if (!am && found.parameters.role !== role) continue;
    if (found.parameters.resource in others)
      reader.error(key, "asks for the same resource as gpus; keep one of the two");
    else add(key, found.parameters.resource, value);
  }
  const memoryMiB = am ? reader.read("tony.am.memory") : reader.read("tony.{role}.memory", { role });
  const tooSmall = virtualMemory === undefined ? undefined : virtualMemoryProblem(memoryMiB, virtualMemory);
  if (tooSmall !== undefined) reader.warn(keyFor(am ? "tony.am.memory" : "tony.{role}.memory", { role }), tooSmall);
  return {
    memoryMiB,
    vcores: am ? reader.read("tony.am.vcores") : reader.read("tony.{role}.vcores", { role }),
    others,
  };
}

function ownCommand(reader: JobReader, role: string): string | undefined {
  return reader.read("tony.{role}.command", { role })?.trim() || undefined;
}

function tensorBoard(reader: JobReader): string {
  const interpreter = reader.read("tony.python-exec-path") ?? "python3";
  return `${interpreter} -m tensorboard.main --logdir "$TB_LOG_DIR" --port "$TB_PORT" --host "$NM_HOST"`;
}

/** @param names of all roles, one of which may be meant by a misspelt name */
function commandOf(reader: JobReader, role: string, names: readonly string[]): string {
  const command = ownCommand(reader, role) ?? (reader.read("tony.containers.command")?.trim() || undefined);
  if (command !== undefined) return command;
  const empty = [keyFor("tony.{role}.command", { role }), "tony.containers.command"].find((key) => reader.isEmpty(key));
  if (empty !== undefined) {
    const others = empty === "tony.containers.command" ? `tony.${role}.command` : "tony.containers.command";
    reader.error(empty, `is empty: write what its tasks run, or take it out and set ${others}`);
    return "";
  }
  const meant = nearest(
    role,
    names.filter((name) => name !== role),
  );
  const hint = meant === undefined ? "" : `; did you mean ${keyFor("tony.{role}.instances", { role: meant })}?`;
  const set = `set ${keyFor("tony.{role}.command", { role })} or tony.containers.command, or give -executes`;
  reader.error(keyFor("tony.{role}.instances", { role }), `asks for tasks that have no command: ${set}${hint}`);
  return "";
}

function trackingOf(reader: JobReader, role: string): Tracking {
  if (reader.read("tony.application.sidecar.jobtypes").includes(role)) return "sidecar";
  return reader.read("tony.application.untracked.jobtypes").includes(role) ? "untracked" : "tracked";
}

/** A role in a list that the job does not have is most often misspelt. */
function checkRoleLists(reader: JobReader, roles: readonly string[]): void {
  const lists = [
    "tony.application.untracked.jobtypes",
    "tony.application.sidecar.jobtypes",
    "tony.application.stop-on-failure-jobtypes",
  ] as const;
  for (const name of lists) {
    if (!reader.has(name)) continue;
    for (const role of reader.read(name).filter((listed) => !roles.includes(listed))) {
      // If the number of tasks cannot be parsed, that is reported instead.
      const isAsked = reader.has("tony.{role}.instances", { role });
      if (isAsked && reader.read("tony.{role}.instances", { role }) === undefined) continue;
      reader.warn(name, missingRole(role, roles));
    }
  }
}

/** The message for a key that names a role which the job does not have. */
export function missingRole(name: string, roles: readonly string[]): string {
  const meant = nearest(name, roles);
  return `names ${name}, which the job does not have${meant === undefined ? "" : `; did you mean ${meant}?`}`;
}

/** The name that TonY's client gives the task in the ApplicationMaster's container. */
const DRIVER = "driver";
const COMMAND = "tony.am.command";
const PREPROCESS = "tony.application.enable-preprocess";

/**
 * The role of the task that runs in the ApplicationMaster's container: the only one in a job that requests no tasks (TonY's single-node
 * mode), or the one that runs before all others (`tony.application.enable-preprocess`). Undefined where there is none, or it has no
 * command.
 * @param others the roles that the job requests
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
    // The task shares all other resources of the ApplicationMaster's container.
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

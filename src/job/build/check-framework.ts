import { frameworks } from "../../frameworks/frameworks.ts";
import { trains } from "../../frameworks/ranks.ts";
import { findKey, keyFor } from "../keys.ts";
import type { RoleSpec } from "../spec.ts";
import type { JobReader } from "./job-reader.ts";

/** Frameworks that start several processes in a container. */
const severalRunners = Object.entries(frameworks)
  .filter(([, { severalProcesses }]) => severalProcesses !== undefined)
  .map(([name]) => name)
  .join(", ");

/** Reports what the job's framework refuses. */
export function checkFramework(reader: JobReader, roles: readonly RoleSpec[]): void {
  const name = reader.read("tony.application.framework");
  const framework = frameworks[name];
  const isSearch = [...reader.settings.keys()].some((key) => key.startsWith("tony.search."));
  const distributedMode = reader.read("tony.application.distributed-mode");
  for (const { severity, key, message } of framework.check?.({ roles, distributedMode, isSearch }) ?? []) {
    if (severity === "error") reader.error(key, message);
    else reader.warn(key, message);
  }
  if (framework.severalProcesses !== undefined) return;
  for (const { name: role, processes } of roles) {
    if (processes > 1) {
      reader.error(
        keyFor("tony.{role}.processes", { role }),
        `is ${processes}, and ${name} runs one in each container: ${severalRunners} run several`,
      );
    }
  }
}

/** Frameworks whose programs adapt to the tasks that exist. */
const ADAPT = Object.entries(frameworks)
  .filter(([, { elastic }]) => elastic !== undefined)
  .map(([name]) => name);

/** Described in the spec. */
export function isOutlivingExits(reader: JobReader): boolean {
  return frameworks[reader.read("tony.application.framework")].elastic?.outlivesExits === true;
}

/** Whether a role can run with some of its tasks missing: its program must adapt to the tasks that exist. */
export function checkElastic(reader: JobReader, roles: readonly RoleSpec[]): void {
  for (const role of roles) {
    const problem = role.minInstances === undefined ? undefined : problemOf(reader, roles, role, role.minInstances);
    if (problem !== undefined) reader.error(keyFor("tony.{role}.min-instances", { role: role.name }), problem);
  }
}

function problemOf(reader: JobReader, roles: readonly RoleSpec[], role: RoleSpec, least: number): string | undefined {
  const framework = reader.read("tony.application.framework");
  const others = roles.filter((one) => one !== role && trains(one)).map(({ name }) => name);
  if (!ADAPT.includes(framework)) {
    return `needs a program that can continue with fewer tasks, which tony-ts cannot assume of ${framework}: take it out, or set tony.application.framework = ${ADAPT.join(" or ")}`;
  }
  if (reader.read("tony.application.distributed-mode") !== "gang") {
    return "needs tasks that start together: take out tony.application.distributed-mode = fcfs";
  }
  if (!trains(role)) {
    return `is for tasks that train together, and those of ${role.name} do not: take it out`;
  }
  if (others.length > 0) {
    return `needs a single role that trains, and ${others.join(", ")} would train as well: make them one role, or list them in tony.application.untracked.jobtypes`;
  }
  if (role.restartPolicy !== "gang") {
    return `already says what starts again, and tony.${role.name}.restart-policy = ${role.restartPolicy} says it as well: remove one of the two`;
  }
  return least > role.instances
    ? `is ${least}, and tony.${role.name}.instances is ${role.instances}: lower the first or raise the second`
    : undefined;
}

/** The task that TonY adds to a Horovod job. */
const DRIVER = "driver";

/** Whether a role of that name is TonY's Horovod driver, which no job has here. */
export function isHorovodDriver(reader: JobReader, role: string): boolean {
  return role === DRIVER && reader.read("tony.application.framework") === "horovod";
}

/** Reports a driver that is configured explicitly: TonY accepts it only for debugging, and here such a job runs without it. */
export function checkDriver(reader: JobReader): void {
  const isDebugged = reader.read("tony.horovod.driver.mode.debug");
  for (const key of reader.settings.keys()) {
    const { role } = findKey(key)?.parameters ?? {};
    if (role === undefined || !key.startsWith("tony.driver.") || !isHorovodDriver(reader, role)) continue;
    const instead = "the executor of rank 0 serves the rendezvous";
    if (isDebugged) reader.warn(key, `has no effect: ${instead}`);
    else reader.error(key, `sets a driver of Horovod, which has none here: ${instead}; take it out`);
  }
}

import { type Environment, type ProgramStart, taskProgram } from "../../src/frameworks/task-program.ts";
import { formatProblem } from "../../src/job/problem.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import { formatTaskId, parseTaskId } from "../../src/job/task.ts";
import { check } from "../job/support.ts";

/** A job of these roles: `{ worker: 2, ps: 1 }`. */
export function jobOf(roles: Readonly<Record<string, number>>, keys: Readonly<Record<string, string>> = {}): JobSpec {
  const instances = Object.entries(roles).map(([role, count]) => [`tony.${role}.instances`, String(count)]);
  const { spec, problems } = check({ "tony.containers.command": "true", ...Object.fromEntries(instances), ...keys });
  if (spec === undefined) throw new Error(problems.map(formatProblem).join("\n"));
  return spec;
}

/** Every task listens: the n-th of the job on port 5000 + n, on `hosts` in turn; its role's named ports are 6000 + n, 7000 + n, … */
export function startOf(spec: JobSpec, task: string, hosts: readonly string[] = ["n1"]): ProgramStart {
  const tasks = spec.roles
    .flatMap(({ name, instances, ports }) =>
      Array.from({ length: instances }, (_, index) => ({ id: formatTaskId(name, index), ports })),
    )
    .map(({ id, ports }, index) => ({
      ...{ task: id, host: hosts[index % hosts.length] ?? "n1", port: 5000 + index },
      ...(ports && {
        ports: Object.fromEntries(ports.map((name, position) => [name, 6000 + 1000 * position + index])),
      }),
    }));
  const own = tasks.find(({ task: id }) => id === task)?.ports;
  return {
    spec,
    ...(own && { ports: own }),
    task: parseTaskId(task) ?? { role: task, index: 0 },
    cluster: { generation: 1, tasks },
    applicationId: "application_1_0001",
    attempt: 1,
    generation: 1,
    restarts: 0,
    amHost: "am-host",
    amPort: 7000,
  };
}

export function environmentOf(
  spec: JobSpec,
  task: string,
  more: Partial<ProgramStart> & { readonly hosts?: readonly string[] } = {},
): Environment {
  const { hosts, ...start } = more;
  return taskProgram({}, { ...startOf(spec, task, hosts), ...start }).environments[0];
}

/** Of each process of one container. */
export function processesOf(spec: JobSpec, task: string, hosts?: readonly string[]): readonly Environment[] {
  return taskProgram({}, startOf(spec, task, hosts)).environments;
}

/** As it is run. */
export function commandOf(spec: JobSpec, task: string): string {
  return taskProgram({}, startOf(spec, task)).command;
}

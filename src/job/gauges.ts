import { gpusNow } from "./gpus.ts";
import type { JobStatus, RoleStatus, TaskStatus } from "./status.ts";

/** Labels for a role, a state of its tasks, or a metric of its program. */
export type GaugeLabels = Readonly<Record<string, string>>;
export type GaugePoint = readonly [labels: GaugeLabels, value: number];

/** A current measurement of a job. */
export interface JobGauge {
  /** In OpenTelemetry's style: `tony.memory.usage`, with the unit in UCUM. */
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly points: readonly GaugePoint[];
}

const MIB = 1024 ** 2;

/** What a job's tasks use and report: by role, because there may be thousands of tasks. Tasks without known values are left out. */
export function jobGauges(status: JobStatus): JobGauge[] {
  const { roles, tasks, generation, waits, usage } = status;
  const groups = roles.map((role) => ({ role, own: tasks.filter(({ task }) => task.startsWith(`${role.name}:`)) }));
  const ofRoles = <T>(value: (role: RoleStatus, own: readonly TaskStatus[]) => T[]): T[] =>
    groups.flatMap(({ role, own }) => value(role, own));
  const perRole = (amount: (own: readonly TaskStatus[], role: RoleStatus) => number | undefined) =>
    ofRoles((role, own): GaugePoint[] => {
      const value = amount(own, role);
      return value === undefined || !Number.isFinite(value) ? [] : [[{ role: role.name }, value]];
    });
  const gauge = (name: string, unit: string, description: string, points: readonly GaugePoint[]): JobGauge => {
    return { name, unit, description, points };
  };
  const states = ofRoles(({ name: role }, own) =>
    [...new Set(own.map(({ state }) => state))].map(
      (state): GaugePoint => [{ role, state }, own.filter((task) => task.state === state).length],
    ),
  );
  const programs = ofRoles(({ name: role }, [first]) =>
    Object.entries(first?.metrics ?? {})
      .filter(([, value]) => Number.isFinite(value))
      .map(([metric, value]): GaugePoint => [{ role, metric }, value]),
  );
  return [
    gauge("tony.tasks", "{task}", "Tasks of a role in each state.", states),
    gauge("tony.memory.usage", "By", "Memory that the tasks of a role use.", perRole(sumOf(memory))),
    gauge("tony.memory.usage.max", "By", "The most that one task of a role uses.", perRole(mostOf(memory))),
    gauge(
      "tony.memory.limit",
      "By",
      "What a container of a role may use.",
      perRole((_own, { memoryMiB }) => memoryMiB * MIB),
    ),
    gauge(
      "tony.cpu.usage",
      "{cpu}",
      "Processors that the tasks of a role keep busy.",
      perRole(sumOf(({ cpuCores }) => cpuCores)),
    ),
    gauge("tony.disk.read", "By/s", "What the tasks of a role read from disks.", perRole(sumOf(read))),
    gauge("tony.disk.written", "By/s", "What the tasks of a role write to disks.", perRole(sumOf(written))),
    gauge("tony.gpu.utilization", "1", "How busy the GPUs of a role are, on average.", perRole(gpuUse("utilization"))),
    gauge("tony.gpu.utilization.min", "1", "How busy the GPU is that does least.", perRole(leastBusyGpu)),
    gauge("tony.gpu.memory", "1", "How full the GPUs of a role are, on average.", perRole(gpuUse("memory"))),
    gauge("tony.step.min", "{step}", "The last step of the task that is farthest behind.", perRole(leastOf(step))),
    gauge("tony.step.max", "{step}", "The last step of the task that is farthest ahead.", perRole(mostOf(step))),
    gauge("tony.program.metric", "1", "What the first task of a role reports.", programs),
    gauge("tony.generation", "1", "How often the job's programs have been started together.", [[{}, generation]]),
    gauge("tony.waits", "1", "How many things the job waits for.", [[{}, waits.length]]),
    gauge("tony.held.memory", "MiBy.s", "Memory that the job has held so far.", [[{}, usage.memoryMiBSeconds]]),
    gauge("tony.held.vcores", "{vcore}.s", "Virtual cores that it has held so far.", [[{}, usage.vcoreSeconds]]),
  ].filter(({ points }) => points.length > 0);
}

type Amount = (task: TaskStatus) => number | undefined;

const memory: Amount = ({ memoryBytes }) => memoryBytes;
const step: Amount = (task) => task.step;
const read: Amount = ({ disk }) => disk?.readBytesPerSecond;
const written: Amount = ({ disk }) => disk?.writtenBytesPerSecond;

function valuesOf(tasks: readonly TaskStatus[], amount: Amount): number[] {
  return tasks.flatMap((task) => amount(task) ?? []);
}

function sumOf(amount: Amount): (tasks: readonly TaskStatus[]) => number | undefined {
  return (tasks) => {
    const values = valuesOf(tasks, amount);
    return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
  };
}

function mostOf(amount: Amount): (tasks: readonly TaskStatus[]) => number {
  return (tasks) => valuesOf(tasks, amount).reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
}

function leastOf(amount: Amount): (tasks: readonly TaskStatus[]) => number {
  return (tasks) => valuesOf(tasks, amount).reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
}

function gpuUse(kind: "utilization" | "memory"): (tasks: readonly TaskStatus[]) => number | undefined {
  return (tasks) => {
    const used = valuesOf(tasks, (task) => gpusNow(task)?.[kind]?.current);
    return used.length === 0 ? undefined : used.reduce((sum, percent) => sum + percent, 0) / used.length / 100;
  };
}

function leastBusyGpu(tasks: readonly TaskStatus[]): number {
  const each = tasks.flatMap((task) => gpusNow(task)?.devices ?? []).flatMap(({ utilization }) => utilization ?? []);
  return each.reduce((least, percent) => Math.min(least, percent / 100), Number.POSITIVE_INFINITY);
}

/** The current use and reports of one task, for those who request them per task. */
export interface TaskGauges {
  readonly task: string;
  readonly memoryBytes?: number | undefined;
  readonly cpuCores?: number | undefined;
  /** Per cent. */
  readonly gpu?: number | undefined;
  readonly step?: number | undefined;
}

export function taskGauges({ tasks }: JobStatus): TaskGauges[] {
  return tasks.map((one) => {
    const { task, memoryBytes, cpuCores, step } = one;
    return { task, memoryBytes, cpuCores, gpu: gpusNow(one)?.utilization?.current, step };
  });
}

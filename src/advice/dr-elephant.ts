import type { TonyEvent, TonyMetric } from "../history/tony/events.ts";
import { MEBIBYTE } from "./sizes.ts";

/**
 * Dr. Elephant's verdict on a TonY job, by the rules of its package com.linkedin.drelephant.tony, from the data that its fetcher reads: the
 * sizes in tony-final.xml and the events of the .jhist file.
 */
export interface DrElephant {
  /** The highest severity of the heuristics. */
  readonly severity: Severity;
  readonly score: number;
  readonly heuristics: readonly HeuristicResult[];
  /** Requested memory, over time. */
  readonly usedMiBSeconds: number;
  /** The part of it that exceeded one and a half times the highest use of any task of the type. */
  readonly wastedMiBSeconds: number;
}

export type Severity = "NONE" | "LOW" | "MODERATE" | "SEVERE" | "CRITICAL";

export interface HeuristicResult {
  readonly name: "Task Memory" | "Task GPU";
  readonly severity: Severity;
  readonly score: number;
  readonly details: readonly HeuristicDetail[];
}

export interface HeuristicDetail {
  readonly name: string;
  readonly value: string;
}

/** The requests in tony-final.xml. */
export interface TaskType {
  /** `worker` */
  readonly name: string;
  readonly instances: number;
  readonly memoryMiB: number;
  readonly gpus: number;
}

interface Task {
  readonly type: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly metrics: readonly TonyMetric[];
}

/** `yarn.scheduler.minimum-allocation-mb` where it is not set. */
const USUAL_LEAST_MIB = 1024;

/** TaskMemoryHeuristic: TonY's default memory, and the thresholds for the highest use as a share of the request. */
const DEFAULT_MIB = 2048;
const thresholds: readonly (readonly [Severity, number])[] = [
  ["CRITICAL", 0.5],
  ["SEVERE", 0.6],
  ["MODERATE", 0.7],
  ["LOW", 0.8],
];
const values: Readonly<Record<Severity, number>> = { NONE: 0, LOW: 1, MODERATE: 2, SEVERE: 3, CRITICAL: 4 };
/** TonyMetricsAggregator.MEMORY_BUFFER */
const MEMORY_BUFFER = 1.5;

/** @param leastMiB the cluster's smallest container */
export function drElephant(
  types: readonly TaskType[],
  events: readonly TonyEvent[],
  leastMiB = USUAL_LEAST_MIB,
): DrElephant {
  const tasks = tasksOf(events);
  // It finds types by tony.([a-z]+).instances.
  const found = types.filter(({ name }) => /^[a-z]+$/.test(name));
  const heuristics = [taskMemory(found, tasks, leastMiB), taskGpu(found, tasks)];
  return {
    severity: highest(heuristics.map(({ severity }) => severity)),
    score: heuristics.reduce((sum, { score }) => sum + score, 0),
    heuristics,
    ...resources(types, tasks),
  };
}

/** TonyApplicationData: a task without an end gets the end of its application. */
function tasksOf(events: readonly TonyEvent[]): Task[] {
  const jobEndMs = events.find(({ type }) => type === "APPLICATION_FINISHED")?.timestamp;
  return events.flatMap((started): Task[] => {
    if (started.type !== "TASK_STARTED") return [];
    const finished = events.find(
      (event) =>
        event.type === "TASK_FINISHED" && event.taskType === started.taskType && event.taskIndex === started.taskIndex,
    );
    const metrics = finished?.type === "TASK_FINISHED" ? finished.metrics : [];
    const endMs = finished?.timestamp ?? jobEndMs ?? 0;
    return [{ type: started.taskType, startMs: started.timestamp, endMs, metrics }];
  });
}

/** TaskMemoryHeuristic */
function taskMemory(types: readonly TaskType[], tasks: readonly Task[], leastMiB: number): HeuristicResult {
  const judged = types
    .filter(({ instances }) => instances > 0)
    .map((type) => ({ type, severity: memorySeverity(type, mostOf(tasks, type.name, "MAX_MEMORY_BYTES"), leastMiB) }));
  return {
    name: "Task Memory",
    severity: highest(judged.map(({ severity }) => severity)),
    score: judged.reduce((sum, { type, severity }) => sum + scoreOf(severity, type.instances), 0),
    details: types.flatMap((type) => memoryDetails(type, tasks)),
  };
}

function memorySeverity({ memoryMiB }: TaskType, mostBytes: number, leastMiB: number): Severity {
  const askedBytes = memoryMiB * MEBIBYTE;
  const isGranted = askedBytes <= mostBytes + 2 * leastMiB * MEBIBYTE;
  if (mostBytes <= 0 || memoryMiB <= DEFAULT_MIB || isGranted) return "NONE";
  return thresholds.find(([, share]) => mostBytes / askedBytes <= share)?.[0] ?? "NONE";
}

function memoryDetails({ name, instances, memoryMiB }: TaskType, tasks: readonly Task[]): HeuristicDetail[] {
  const count = { name: `Number of ${name} tasks`, value: String(instances) };
  if (instances === 0) return [count];
  const mostBytes = mostOf(tasks, name, "MAX_MEMORY_BYTES");
  return [
    count,
    { name: `Requested memory (MB) per ${name} task`, value: String(memoryMiB) },
    {
      name: `Max memory (MB) used in any ${name} task`,
      value: mostBytes <= 0 ? "Unknown" : String(Math.trunc(mostBytes / MEBIBYTE)),
    },
  ];
}

/** TaskGPUHeuristic: it collects data and judges nothing. */
function taskGpu(types: readonly TaskType[], tasks: readonly Task[]): HeuristicResult {
  return { name: "Task GPU", severity: "NONE", score: 0, details: types.flatMap((type) => gpuDetails(type, tasks)) };
}

const gauges = ["GPU_UTILIZATION", "GPU_FB_MEMORY_USAGE", "GPU_MAIN_MEMORY_USAGE"];

function gpuDetails({ name, gpus }: TaskType, tasks: readonly Task[]): HeuristicDetail[] {
  const own = tasks.filter(({ type }) => type === name);
  const percent = (metric: string, value: number) => {
    return { name: `${metric} in any ${name} task`, value: value > 0 ? `${value.toFixed(2)}%` : "Unknown" };
  };
  return [
    { name: `Number of ${name} tasks`, value: String(own.length) },
    ...(gpus > 0 ? [{ name: `Number of GPUs requested per ${name} tasks`, value: String(gpus) }] : []),
    ...gauges.map((gauge) => percent(`MAX_${gauge}`, mostOf(tasks, name, `MAX_${gauge}`))),
    ...gauges.map((gauge) => percent(`AVG_${gauge}`, averageOf(tasks, name, `AVG_${gauge}`))),
  ];
}

/** TonyMetricsAggregator: whole seconds per task, whole megabytes of waste. */
function resources(
  types: readonly TaskType[],
  tasks: readonly Task[],
): Pick<DrElephant, "usedMiBSeconds" | "wastedMiBSeconds"> {
  let [usedMiBSeconds, wastedMiBSeconds] = [0, 0];
  for (const { name, memoryMiB } of types) {
    const mostMiB = mostOf(tasks, name, "MAX_MEMORY_BYTES") / MEBIBYTE;
    const wastedMiB = mostMiB === 0 ? 0 : Math.max(0, Math.trunc(memoryMiB - mostMiB * MEMORY_BUFFER));
    for (const { type, startMs, endMs } of tasks) {
      if (type !== name || endMs < startMs) continue;
      const seconds = Math.trunc((endMs - startMs) / 1000);
      usedMiBSeconds += memoryMiB * seconds;
      wastedMiBSeconds += wastedMiB * seconds;
    }
  }
  return { usedMiBSeconds, wastedMiBSeconds };
}

function valuesOf(tasks: readonly Task[], type: string, metric: string): number[] {
  return tasks
    .filter((task) => task.type === type)
    .flatMap(({ metrics }) => metrics.find(({ name }) => name === metric)?.value ?? [])
    .filter((value) => value > 0);
}

/** 0 where no task reported it. */
function mostOf(tasks: readonly Task[], type: string, metric: string): number {
  return Math.max(0, ...valuesOf(tasks, type, metric));
}

function averageOf(tasks: readonly Task[], type: string, metric: string): number {
  const known = valuesOf(tasks, type, metric);
  return known.length === 0 ? 0 : known.reduce((sum, value) => sum + value, 0) / known.length;
}

/** Utils.getHeuristicScore */
function scoreOf(severity: Severity, tasks: number): number {
  return values[severity] >= values.MODERATE ? values[severity] * tasks : 0;
}

function highest(severities: readonly Severity[]): Severity {
  return severities.reduce<Severity>((most, one) => (values[one] > values[most] ? one : most), "NONE");
}

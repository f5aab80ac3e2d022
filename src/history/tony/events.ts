import type { Gauge, GpuMetrics } from "../../job/gpus.ts";
import type { JobStatus, TaskState, TaskStatus } from "../../job/status.ts";
import { parseTaskId } from "../../job/task.ts";

/** One event of TonY's history (com.linkedin.tony.events.Event), in the terms of its schema. */
export type TonyEvent = { readonly timestamp: number } & (
  | ({ readonly type: "APPLICATION_INITED" } & ApplicationInited)
  | ({ readonly type: "APPLICATION_FINISHED" } & ApplicationFinished)
  | ({ readonly type: "TASK_STARTED" } & TaskStarted)
  | ({ readonly type: "TASK_FINISHED" } & TaskFinished)
);

type ApplicationInited = {
  readonly applicationId: string;
  readonly numTasks: number;
  readonly host: string;
  readonly containerID: string | null;
};
type ApplicationFinished = {
  readonly applicationId: string;
  readonly finishedTasks: number;
  readonly failedTasks: number;
  readonly metrics: readonly TonyMetric[];
};
type TaskStarted = {
  readonly taskType: string;
  readonly taskIndex: number;
  readonly host: string;
  readonly containerID: string | null;
};
type TaskFinished = {
  readonly taskType: string;
  readonly taskIndex: number;
  readonly status: string;
  readonly metrics: readonly TonyMetric[];
  readonly containerDiagnostic: string | null;
};

/** Under the names that Dr. Elephant looks for: `MAX_MEMORY_BYTES`. */
export type TonyMetric = {
  readonly name: string;
  readonly value: number;
};

/** The resources that a task's programs used. */
export interface TaskUse {
  readonly maxMemoryBytes: number;
  readonly averageMemoryBytes: number;
  readonly gpus?: GpuMetrics;
}

/** The first event of a job, when its ApplicationMaster has begun. */
export function initedEvent(status: JobStatus): TonyEvent {
  return {
    type: "APPLICATION_INITED",
    timestamp: status.startedAtMs,
    applicationId: status.applicationId,
    numTasks: status.roles.reduce((sum, { instances }) => sum + instances, 0),
    host: status.amHost,
    containerID: status.amContainerId ?? null,
  };
}

/**
 * All events of a job that has ended, in order. TonY knows one life of each task; here that is the last one.
 * @param useOf undefined if nothing was measured
 */
export function endedEvents(
  status: JobStatus,
  endedAtMs: number,
  useOf: (task: string) => TaskUse | undefined,
): TonyEvent[] {
  const ended = status.tasks.flatMap((task) => taskEvents(task, endedAtMs, useOf(task.task)));
  const failed = status.tasks.filter(({ state }) => wordOf(state) === "FAILED");
  return [
    initedEvent(status),
    ...ended.sort((a, b) => a.timestamp - b.timestamp),
    {
      type: "APPLICATION_FINISHED",
      timestamp: endedAtMs,
      applicationId: status.applicationId,
      finishedTasks: status.tasks.filter(({ startedAtMs }) => startedAtMs !== undefined).length,
      failedTasks: failed.length,
      metrics: [],
    },
  ];
}

function taskEvents(task: TaskStatus, jobEndedAtMs: number, use: TaskUse | undefined): TonyEvent[] {
  const { startedAtMs, endedAtMs = jobEndedAtMs, host = "", containerId = null, exit } = task;
  const { role: taskType, index: taskIndex } = parseTaskId(task.task) ?? { role: task.task, index: 0 };
  if (startedAtMs === undefined) return [];
  const status = wordOf(task.state);
  const which = { taskType, taskIndex };
  return [
    { type: "TASK_STARTED", timestamp: startedAtMs, ...which, host, containerID: containerId },
    {
      type: "TASK_FINISHED",
      timestamp: endedAtMs,
      ...which,
      status,
      metrics: metricsOf(use),
      containerDiagnostic: status === "FAILED" && exit !== undefined ? `exit ${exit}` : null,
    },
  ];
}

function metricsOf(use: TaskUse | undefined): TonyMetric[] {
  if (use === undefined) return [];
  return [
    { name: "MAX_MEMORY_BYTES", value: use.maxMemoryBytes },
    { name: "AVG_MEMORY_BYTES", value: use.averageMemoryBytes },
    ...gauged("GPU_UTILIZATION", use.gpus?.utilization),
    ...gauged("GPU_FB_MEMORY_USAGE", use.gpus?.memory),
    ...gauged("GPU_MAIN_MEMORY_USAGE", use.gpus?.bar1Memory),
  ];
}

/** TonY's main memory is what nvidia-smi calls BAR1 (com.linkedin.tony.TaskMonitor). */
function gauged(name: string, gauge: Gauge | undefined): TonyMetric[] {
  if (gauge === undefined) return [];
  return [
    { name: `MAX_${name}`, value: gauge.max },
    { name: `AVG_${name}`, value: gauge.average },
  ];
}

/** TonY's names for how a task ended (com.linkedin.tony.rpc.impl.TaskStatus); FINISHED is a task that TonY stopped itself. */
function wordOf(state: TaskState): "SUCCEEDED" | "FAILED" | "FINISHED" {
  if (state === "succeeded") return "SUCCEEDED";
  return state === "failed" || state === "lost" ? "FAILED" : "FINISHED";
}

import { parseProperties } from "../src/hadoop/conf/xml.ts";
import type { HistoryFileName } from "../src/history/layout.ts";
import type { TonyEvent } from "../src/history/tony/events.ts";
import { tonyFinalXml } from "../src/history/tony/final-xml.ts";
import { readTonyEvents } from "../src/history/tony/read-events.ts";
import { memory } from "../src/job/keys/types.ts";
import type { JobStatus, RoleStatus, TaskState, TaskStatus } from "../src/job/status.ts";

const states: Readonly<Record<string, TaskState>> = { SUCCEEDED: "succeeded", FAILED: "failed", FINISHED: "stopped" };

/**
 * A job that TonY ran, as far as its files describe it: without waits, generations or causes.
 * @param name the facts in its event file's name
 * @param xml its settings, where there are any
 */
export function statusOfTony(name: HistoryFileName, file: Uint8Array, xml: string | undefined): JobStatus {
  const { applicationId, startedAtMs, endedAtMs, result } = name;
  const events = readTonyEvents(file);
  const settings = xml === undefined ? new Map<string, string>() : settingsOf(xml);
  const tasks = tasksOf(events);
  return {
    statusVersion: 1,
    applicationId,
    attempt: 1,
    name: settings.get("tony.application.name") ?? applicationId,
    queue: settings.get("tony.yarn.queue") ?? "",
    state: result ?? "running",
    generation: 1,
    startedAtMs,
    nowMs: endedAtMs ?? startedAtMs,
    amHost: events.find((event) => event.type === "APPLICATION_INITED")?.host ?? "",
    roles: rolesOf(tasks, settings),
    tasks,
    waits: [],
    generations: [],
    budgets: { program: { used: 0, limit: 0 }, infrastructure: { used: 0, limit: 0 } },
    services: [],
    usage: { memoryMiBSeconds: 0, vcoreSeconds: 0 },
  };
}

/** A job wrote this file: its includes would be read from the portal's machine, so they are ignored. */
export function settingsOf(xml: string): ReadonlyMap<string, string> {
  const properties = parseProperties(xml, tonyFinalXml, { readText: () => undefined });
  return new Map(properties.map(({ name, value = "" }) => [name, value]));
}

function tasksOf(events: readonly TonyEvent[]): TaskStatus[] {
  const tasks = new Map<string, TaskStatus>();
  for (const event of events) {
    if (event.type !== "TASK_STARTED" && event.type !== "TASK_FINISHED") continue;
    const task = `${event.taskType}:${event.taskIndex}`;
    const before = tasks.get(task) ?? { task, state: "running", restarts: 0 };
    tasks.set(task, event.type === "TASK_STARTED" ? started(before, event) : finished(before, event));
  }
  return [...tasks.values()];
}

function started(task: TaskStatus, event: Extract<TonyEvent, { readonly type: "TASK_STARTED" }>): TaskStatus {
  const { host, containerID, timestamp: startedAtMs } = event;
  return { ...task, host, startedAtMs, ...(containerID === null ? {} : { containerId: containerID }) };
}

function finished(task: TaskStatus, event: Extract<TonyEvent, { readonly type: "TASK_FINISHED" }>): TaskStatus {
  const { status, metrics, timestamp: endedAtMs, containerDiagnostic } = event;
  const maxMemoryBytes = metrics.find(({ name }) => name === "MAX_MEMORY_BYTES")?.value;
  return {
    ...task,
    state: states[status] ?? "lost",
    endedAtMs,
    ...(containerDiagnostic === null ? {} : { exit: containerDiagnostic }),
    ...(maxMemoryBytes === undefined ? {} : { maxMemoryBytes }),
  };
}

function rolesOf(tasks: readonly TaskStatus[], settings: ReadonlyMap<string, string>): RoleStatus[] {
  const names = [...new Set(tasks.map(({ task }) => task.replace(/:\d+$/, "")))];
  return names.map((name) => {
    const own = tasks.filter(({ task }) => task.startsWith(`${name}:`));
    const ended = own.filter(({ endedAtMs }) => endedAtMs !== undefined).length;
    const instances = own.length;
    return {
      name,
      instances,
      allocated: instances,
      registered: instances,
      running: instances - ended,
      ended,
      memoryMiB: memoryMiB(settings.get(`tony.${name}.memory`) ?? "2g"),
      vcores: Number(settings.get(`tony.${name}.vcores`) ?? 1),
      others: {},
    };
  });
}

/** TonY accepts more spellings than are known here. */
function memoryMiB(text: string): number {
  try {
    return memory.parse(text);
  } catch {
    return 0;
  }
}

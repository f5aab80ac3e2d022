import { endedBecause } from "../../src/job/outcome.ts";
import type { Cause, JobStatus } from "../../src/job/status.ts";

/** 14:00:00 of a day, local time: what reports show. */
export const noonishMs = new Date(2026, 10, 21, 14, 0, 0).getTime();

/** A job of two workers and a parameter server, all running, as an AM tells it. */
export function aJobStatus(changes: Partial<JobStatus> = {}): JobStatus {
  const started = { host: "127.0.0.11", startedAtMs: noonishMs + 5_000, restarts: 0 };
  return {
    statusVersion: 1,
    applicationId: "application_1795305600000_0009",
    attempt: 1,
    name: "bert",
    queue: "ml",
    state: "running",
    generation: 1,
    startedAtMs: noonishMs,
    nowMs: noonishMs + 60_000,
    amHost: "127.0.0.12",
    roles: [
      { ...role("worker", 2), running: 2 },
      { ...role("ps", 1), running: 1 },
    ],
    tasks: [
      { task: "worker:0", state: "running", ...started },
      { task: "worker:1", state: "running", ...started, host: "127.0.0.12" },
      { task: "ps:0", state: "running", ...started },
    ],
    waits: [],
    generations: [{ generation: 1, startedAtMs: noonishMs }],
    budgets: { program: { used: 0, limit: 2 }, infrastructure: { used: 0, limit: 10 } },
    services: [],
    usage: { memoryMiBSeconds: 0, vcoreSeconds: 0 },
    ...changes,
  };
}

/** A role of `instances` tasks that have containers and are registered. */
export function role(name: string, instances: number): JobStatus["roles"][number] {
  const resource = { memoryMiB: 4096, vcores: 2, others: { "yarn.io/gpu": 1 } };
  return { name, instances, allocated: instances, registered: instances, running: 0, ended: 0, ...resource };
}

export function outOfMemory(changes: Partial<Cause> = {}): Cause {
  return {
    class: "program",
    generation: 2,
    reason: { code: "ran-out-of-memory", task: "worker:1", host: "127.0.0.12", exitStatus: -104 },
    summary: "worker:1 ran out of memory on 127.0.0.12",
    task: "worker:1",
    host: "127.0.0.12",
    containerId: "container_e01_1795305600000_0009_01_000005",
    exit: "-104",
    atMs: noonishMs + 131_000,
    lines: ["epoch 7 step 1840 loss 0.402", 'File "train.py", line 88, in collate'],
    remedy: "raise tony.worker.memory (job.xml:16), e.g. to 5g",
    consequences: ["worker:0 exit 1 Connection closed by peer, 0.2 s later (a consequence, not counted)"],
    followed: [],
    ...changes,
  };
}

/** How a job ends whose two tasks did. */
export const allSucceeded = endedBecause("succeeded", {
  code: "tasks-ended",
  succeeded: 2,
  tasks: 2,
  onlyTracked: false,
});

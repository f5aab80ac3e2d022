import { endedBecause } from "../../../src/job/outcome.ts";
import { settingOf } from "../../../src/job/reasons/words.ts";
import { discard, letGo, setLink } from "../containers/containers.ts";
import { linkEnding, timeLimitEnding } from "../failures/endings.ts";
import { containerGone, executorLeft, taskGone } from "../failures/losses.ts";
import { wordOverdue } from "../failures/verdict.ts";
import { finish } from "../job/finish.ts";
import type { Event } from "../state/events.ts";
import type { ContainerRecord, TaskRecord } from "../state/state.ts";
import { type Step, tenantOf } from "../state/step.ts";
import { Bounds, setOrder } from "../state/timers.ts";
import { hungExpired, progressExpired } from "./progress.ts";

type Of<T extends Event["type"]> = Extract<Event, { type: T }>;

/** A broken stream may be a short matter of the network; silence and goodbye are not. */
export function executorLost(step: Step, event: Of<"executor-lost">): void {
  const container = step.state.containers[event.containerId];
  const task = container === undefined ? undefined : tenantOf(step, container);
  if (container === undefined || task === undefined) {
    return;
  }
  if (event.cause === "stream-broken") {
    if (container.link === "up") {
      setLink(step, container, "broken");
      setOrder(step, "reconnect", container.id, Bounds.reconnectMs);
    }
    return;
  }
  if (event.cause === "goodbye") {
    executorLeft(step, container, task);
    return;
  }
  const facts = { code: "executor-silent", silentMs: step.spec.timeouts.heartbeatExpiryMs } as const;
  containerGone(step, container, linkEnding(step, task, container, facts), "its executor is silent");
}

/** An executor misses heartbeats, or is heard again. */
export function executorHeard(step: Step, event: Of<"executor-silent" | "executor-back">): void {
  const container = step.state.containers[event.containerId];
  if (container !== undefined) {
    container.silent = event.type === "executor-silent";
    step.changed = true;
  }
}

/** One of the bounded steps of an executor took too long. */
export function orderExpired(step: Step, order: string, containerId: string): void {
  const container = step.state.containers[containerId];
  if (container?.phase === "unclaimed" && order === "rejoin") {
    step.state.unclaimed[container.role] = Math.max(0, (step.state.unclaimed[container.role] ?? 0) - 1);
    discard(step, container, "no executor claimed it");
  }
  if (container?.phase === "leaving" && order === "leave") {
    discard(step, container, container.discardReason);
  }
  if (order === "word" && container?.link === "up") {
    wordOverdue(step, container);
  }
  const task = container === undefined ? undefined : tenantOf(step, container);
  if (container === undefined || task === undefined) {
    return;
  }
  if (order === "reconnect") {
    reconnectExpired(step, container, task);
  } else if (order === "rejoin" && container.link === "rejoining") {
    const ending = { ...linkEnding(step, task, container, { code: "executor-not-back" }), machine: false };
    containerGone(step, container, ending, "its executor did not come back");
  } else if (order === "launch" && (task.phase === "allocated" || task.phase === "launched")) {
    const facts = { code: "executor-not-started", limitMs: step.spec.timeouts.launchMs } as const;
    containerGone(step, container, linkEnding(step, task, container, facts), "its executor did not start in time");
  } else if (order === "registration" && task.phase === "launched") {
    registrationExpired(step, container, task);
  } else if (order === "prepare" && task.phase === "preparing") {
    containerGone(
      step,
      container,
      linkEnding(step, task, container, { code: "executor-not-ready" }),
      "it did not make ready",
    );
  } else if (order === "start" && task.phase === "starting") {
    containerGone(
      step,
      container,
      linkEnding(step, task, container, { code: "program-start-unheard" }),
      "it did not start",
    );
  } else if (order === "progress" && task.phase === "running") {
    progressExpired(step, container, task);
  } else if (order === "hung" && task.phase === "running") {
    hungExpired(step, container, task);
  } else if (order === "execution" && task.phase === "running") {
    containerGone(step, container, timeLimitEnding(step, task, container), "its program ran longer than it may");
  }
}

/** TonY's meaning of its key: an executor that does not register in time fails the job. */
function registrationExpired(step: Step, container: ContainerRecord, task: TaskRecord): void {
  const limitMs = step.spec.timeouts.registrationMs ?? 0;
  const setting = settingOf(step.spec, "tony.container.registration.timeout");
  const at = { task: task.id, host: container.host };
  finish(step, endedBecause("failed", { code: "registration-too-long", ...at, limitMs, setting }));
}

function reconnectExpired(step: Step, container: ContainerRecord, task: TaskRecord): void {
  if (container.link !== "broken") {
    return;
  }
  const { brokenLinks, roles } = step.state;
  const held = roles.reduce((sum, { counts }) => sum - counts.waiting - counts.lost, step.state.tasks.length);
  const together = brokenLinks >= 2 && brokenLinks * 3 > held;
  const endsAtMs = container.brokenAtMs + (together ? step.spec.timeouts.massSilenceMs : Bounds.reconnectMs);
  if (step.nowMs < endsAtMs) {
    setOrder(step, "reconnect", container.id, endsAtMs - step.nowMs);
    return;
  }
  const ending = linkEnding(step, task, container, { code: "executor-vanished" });
  letGo(step, container, "its stream broke", true);
  taskGone(step, task, ending);
}

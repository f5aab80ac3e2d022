import { release, write, writeFailed, written } from "./journaling.ts";
import { acknowledge, ask, expire, fail, nextDue, renew, serve } from "./leases.ts";
import { comeToMark, endVainMark, leaveMark } from "./marks.ts";
import { heardWhere, lookAhead } from "./nearby.ts";
import { lifeEnded, open } from "./opening.ts";
import { grownFeed, splitsInOrder } from "./order.ts";
import type { FeedAnswer, FeedState } from "./records.ts";
import { answer, type FeedCall, type FeedEffect, type FeedEvent, type FeedStep, refused } from "./step.ts";
import { agreeOnSteps, comeToSteps, leaveSteps } from "./steps.ts";

/**
 * Takes an event of a feed and returns the effects to carry out. Like the core, it does no I/O: a state that was written as JSON and read
 * back decides the same. docs/makers/decisions/0114-feeding.md lists the guarantees.
 */
export function createFeed(state: FeedState): (event: FeedEvent, nowMs: number) => readonly FeedEffect[] {
  const splitAt = splitsInOrder(state);
  return (event, nowMs) => {
    const step: FeedStep = { state, nowMs, effects: [], splitAt };
    hear(step, event);
    agreeOnSteps(step);
    serve(step);
    endVainMark(step);
    lookAhead(step);
    write(step);
    release(step);
    wake(step);
    return step.effects;
  };
}

function hear(step: FeedStep, event: FeedEvent): void {
  const { state, nowMs } = step;
  switch (event.type) {
    case "life-ended":
      lifeEnded(step, event.task, event.generation, event.how);
      break;
    case "grown":
      state.feed = grownFeed(state.feed, event);
      break;
    case "located":
      heardWhere(step, event.splits);
      break;
    case "journal-written":
      written(state, event.sequence);
      break;
    case "journal-failed":
      writeFailed(state, event.sequence, nowMs);
      break;
    case "wake-up":
      expire(step);
      break;
    case "gone":
      gone(step, event.id);
      break;
    case "moved":
      if (state.readers[event.task]?.generation === event.generation) renew(state, event.task, nowMs);
      break;
    default: {
      const said = answered(step, event);
      if (said !== undefined) answer(step, event.id, said);
    }
  }
}

function answered(step: FeedStep, call: FeedCall): FeedAnswer | undefined {
  const { state } = step;
  if (call.type === "open") return open(step, call);
  if (state.readers[call.task]?.generation !== call.generation)
    return refused("stale", `${call.task} has not opened ${state.feed.name}, or another life of it reads`);
  switch (call.type) {
    case "ask":
      return ask(step, call);
    case "mark":
      return comeToMark(step, call);
    case "steps":
      return comeToSteps(step, call);
    case "used":
      return acknowledge(step, call);
    case "failed":
      return fail(step, call);
  }
}

function gone(step: FeedStep, id: number): void {
  const { state } = step;
  state.waiting = state.waiting.filter((one) => one.id !== id);
  const [task] = Object.entries(state.mark?.there ?? {}).find(([, call]) => call.id === id) ?? [];
  if (task !== undefined) leaveMark(step, task);
  const [stepping] = Object.entries(state.ahead?.there ?? {}).find(([, call]) => call.id === id) ?? [];
  if (stepping !== undefined) leaveSteps(step, stepping);
}

function wake({ state, effects, nowMs }: FeedStep): void {
  const atMs = nextDue(state, nowMs);
  // A time later than the wake-up already asked for is requested when that wake-up comes.
  if (atMs === undefined || atMs >= (state.wakeAtMs ?? Number.POSITIVE_INFINITY)) return;
  state.wakeAtMs = atMs;
  effects.push({ type: "wake-at", atMs });
}

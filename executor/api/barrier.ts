import type { ProgramStart } from "../../src/frameworks/task-program.ts";
import { BARRIERS, type Transaction, withPrefix } from "../../src/job/store/transaction.ts";
import { formatTaskId, parseTaskId } from "../../src/job/task.ts";
import { CallError, overAfter, timeoutIn } from "./call.ts";
import { clusterFacts } from "./facts.ts";
import { committed, type TaskStore } from "./kv.ts";

export interface Meeting {
  readonly name: string;
  /** Which meeting of that name: 1 is the first. */
  readonly nth: number;
  /** The generation of all tasks that start together: tasks of another generation do not meet with them. */
  readonly generation: number;
  /** The tasks that must come, including the calling one. */
  readonly tasks: readonly string[];
  readonly task: string;
  /** Absent: no time-out. */
  readonly timeoutMs?: number;
}

/** A name is part of a key. */
const NAME = /^[\w.:-]{1,100}$/;
/** With a fixed number of digits, numbers compare as their texts do. */
const DIGITS = 9;

/**
 * The meeting of that name of those roles, by default of the task's own role.
 * @throws CallError
 */
export function meetingOf(start: ProgramStart, name: string, query: URLSearchParams): Meeting {
  const { generation, gangGeneration = generation } = clusterFacts(start);
  const { role, index } = start.task;
  const tasks = membersOf(start, query.get("roles")?.split(","));
  const nth = nthIn(query);
  return { name, nth, generation: gangGeneration, tasks, task: formatTaskId(role, index), ...timeoutIn(query) };
}

function nthIn(query: URLSearchParams): number {
  const value = query.get("nth") ?? "1";
  if (new RegExp(`^[1-9]\\d{0,${DIGITS - 1}}$`).test(value)) return Number(value);
  throw new CallError(400, "BAD_CALL", `nth is a whole number from 1 on, not ${value}`);
}

/**
 * The tasks of those roles, by default of the task's own, that have started together.
 * @throws CallError
 */
export function membersOf(start: ProgramStart, roles: readonly string[] = [start.task.role]): readonly string[] {
  const { tasks } = clusterFacts(start);
  const roleOf = (task: string) => parseTaskId(task)?.role ?? "";
  const unknown = roles.find((role) => !tasks.some(({ task }) => roleOf(task) === role));
  if (unknown !== undefined) throw new CallError(400, "BAD_CALL", `the cluster spec has no role ${unknown}`);
  return tasks.map(({ task }) => task).filter((task) => roles.includes(roleOf(task)));
}

/**
 * Resolves when all have come. Each task announces itself by a key that ends with its life. The first to see all of them records that they
 * have met, for tasks that look later, when others may have ended.
 * @throws CallError
 */
export async function meet(store: TaskStore, meeting: Meeting, gone: AbortSignal): Promise<void> {
  const { name, nth, tasks, task, timeoutMs } = meeting;
  if (!NAME.test(name))
    throw new CallError(
      400,
      "BAD_CALL",
      `${name} is not a valid name of a barrier: letters, digits and . : - _, 100 at most`,
    );
  if (!tasks.includes(task)) throw new CallError(400, "BAD_CALL", `${task} is not one of those who meet at ${name}`);
  const missing = new Set(tasks);
  const over = overAfter(timeoutMs, gone);
  const place = placeOf(meeting);
  while (!over.aborted) if (await attend(store, place, missing, over)) return;
  const who = [...missing].slice(0, 5).join(", ");
  const which = nth === 1 ? name : `meeting ${nth} of ${name}`;
  throw new CallError(
    408,
    "BARRIER_TIMEOUT",
    `${missing.size} of ${tasks.length} tasks have not come to ${which}: ${who}`,
  );
}

interface Place {
  /** Prefix of the keys of tasks that have come; the task's name follows. */
  readonly came: string;
  /** Key with the number of the last meeting of that name of those roles. */
  readonly met: string;
  readonly nth: string;
  readonly task: string;
}

/** Different sets of roles that use the same name meet separately. */
function placeOf({ name, nth, generation, tasks, task }: Meeting): Place {
  const roles = [...new Set(tasks.map((one) => parseTaskId(one)?.role ?? one))].sort();
  const prefix = `${BARRIERS.from}${generation}/${name}/${roles.join(",")}/`;
  return { came: `${prefix}${nth}/`, met: `${prefix}met`, nth: String(nth).padStart(DIGITS, "0"), task };
}

/** @returns whether they have met; false: some changes are no longer known one by one, and the wait begins anew */
async function attend(store: TaskStore, place: Place, missing: Set<string>, over: AbortSignal): Promise<boolean> {
  const ended = new AbortController();
  const come = (key: string) => missing.delete(key.slice(place.came.length));
  const range = { from: place.came, to: `${place.met}\0` };
  let hasCome = false;
  try {
    // The watch begins before this task announces itself: later arrivals are then reported.
    for await (const news of store.watch({ range }, AbortSignal.any([over, ended.signal]))) {
      if (news.type !== "changes") return false;
      if (!hasCome) {
        const there = await arrive(store, place);
        if (there === "met") return true;
        there.forEach(come);
        hasCome = true;
      }
      for (const change of news.changes) {
        if (change.type !== "put") continue;
        if (change.key === place.met && change.entry.value >= place.nth) return true;
        if (change.key.startsWith(place.came)) come(change.key);
      }
      if (missing.size > 0) continue;
      await tell(store, place);
      return true;
    }
    return false;
  } finally {
    ended.abort();
  }
}

/** @returns the keys of the tasks that have come, including this one */
async function arrive(store: TaskStore, { came, met, nth, task }: Place): Promise<readonly string[] | "met"> {
  const transaction: Transaction = {
    conditions: [{ of: "value", key: met, is: "≥", to: nth }],
    success: [],
    failure: [
      { type: "put", key: `${came}${task}`, value: "", owned: true },
      { type: "list", range: withPrefix(came), keysOnly: true },
    ],
  };
  const { succeeded, results } = committed(await store.transact({ transaction, durable: true }));
  const list = results.find((result) => result.type === "list");
  return !succeeded && list?.type === "list" ? list.entries.map(({ key }) => key) : "met";
}

/** Another task may have recorded it meanwhile, and even later meetings. */
async function tell(store: TaskStore, { came, met, nth }: Place): Promise<void> {
  const transaction: Transaction = {
    conditions: [{ of: "value", key: met, is: "≥", to: nth }],
    success: [],
    failure: [
      { type: "delete", range: withPrefix(came) },
      { type: "put", key: met, value: nth },
    ],
  };
  committed(await store.transact({ transaction, durable: true }));
}

import type { ProgramStart } from "../../src/frameworks/task-program.ts";
import { type Transaction, withPrefix } from "../../src/job/store/transaction.ts";
import type { Change } from "../../src/job/store/watched.ts";
import { formatTaskId, parseTaskId } from "../../src/job/task.ts";
import { CallError, overAfter, timeoutIn } from "./call.ts";
import { clusterFacts } from "./facts.ts";
import { committed, type TaskStore } from "./kv.ts";

export interface Meeting {
  readonly name: string;
  /** All that start together: the tasks of another one do not meet with them. */
  readonly generation: number;
  /** Who is to come, the task itself among them. */
  readonly tasks: readonly string[];
  readonly task: string;
  /** Absent: for as long as it takes. */
  readonly timeoutMs?: number;
}

/** A name is part of a key. */
const NAME = /^[\w.:-]{1,100}$/;

/**
 * The meeting of that name of those roles, by default of the task's own.
 * @throws CallError
 */
export function meetingOf(start: ProgramStart, name: string, query: URLSearchParams): Meeting {
  const { generation, gangGeneration = generation } = clusterFacts(start);
  const { role, index } = start.task;
  const tasks = membersOf(start, query.get("roles")?.split(","));
  return { name, generation: gangGeneration, tasks, task: formatTaskId(role, index), ...timeoutIn(query) };
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
 * Resolves when all have come. Each says so by a key that goes with its life; the first to see all of them says that they have met, for those
 * who come to look later, when others may have ended.
 * @throws CallError
 */
export async function meet(store: TaskStore, meeting: Meeting, gone: AbortSignal): Promise<void> {
  const { name, tasks, task, timeoutMs } = meeting;
  if (!NAME.test(name))
    throw new CallError(
      400,
      "BAD_CALL",
      `${name} is not a valid name of a barrier: letters, digits and . : - _, 100 at most`,
    );
  if (!tasks.includes(task)) throw new CallError(400, "BAD_CALL", `${task} is not one of those who meet at ${name}`);
  const missing = new Set(tasks);
  const over = overAfter(timeoutMs, gone);
  while (!over.aborted) if (await attend(store, meeting, missing, over)) return;
  const who = [...missing].slice(0, 5).join(", ");
  throw new CallError(
    408,
    "BARRIER_TIMEOUT",
    `${missing.size} of ${tasks.length} tasks have not come to ${name}: ${who}`,
  );
}

/** @returns whether they have met; false: not all that was told is known any more, and it begins anew */
async function attend(
  store: TaskStore,
  { name, generation, task }: Meeting,
  missing: Set<string>,
  over: AbortSignal,
): Promise<boolean> {
  const prefix = `shared/barrier/${generation}/${name}/`;
  const met = `${prefix}met`;
  const ended = new AbortController();
  const come = (key: string) => missing.delete(key.slice(prefix.length));
  let hasCome = false;
  try {
    // It is watched before it is said: who comes after that is told of.
    for await (const news of store.watch({ range: withPrefix(prefix) }, AbortSignal.any([over, ended.signal]))) {
      if (news.type !== "changes") return false;
      if (!hasCome) {
        const there = await arrive(store, { prefix, met, task });
        if (there === "met") return true;
        there.forEach(come);
        hasCome = true;
      }
      if (news.changes.some(({ key }) => key === met)) return true;
      for (const change of news.changes) if (isPut(change)) come(change.key);
      if (missing.size > 0) continue;
      await tell(store, { prefix, met, task });
      return true;
    }
    return false;
  } finally {
    ended.abort();
  }
}

interface Place {
  readonly prefix: string;
  readonly met: string;
  readonly task: string;
}

/** @returns the keys of those who are there, this task among them */
async function arrive(store: TaskStore, { prefix, met, task }: Place): Promise<readonly string[] | "met"> {
  const transaction: Transaction = {
    conditions: [{ of: "missing", key: met }],
    success: [
      { type: "put", key: `${prefix}${task}`, value: "", owned: true },
      { type: "list", range: withPrefix(prefix), keysOnly: true },
    ],
    failure: [],
  };
  const { succeeded, results } = committed(await store.transact({ transaction, durable: true }));
  const list = results.find((result) => result.type === "list");
  return succeeded && list?.type === "list" ? list.entries.map(({ key }) => key) : "met";
}

async function tell(store: TaskStore, { prefix, met }: Place): Promise<void> {
  const range = withPrefix(prefix);
  const put = { type: "put", key: met, value: "" } as const;
  const transaction: Transaction = { conditions: [], success: [{ type: "delete", range }, put], failure: [] };
  committed(await store.transact({ transaction, durable: true }));
}

function isPut({ type }: Change): boolean {
  return type === "put";
}

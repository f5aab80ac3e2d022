import { parseContainerId } from "../hadoop/yarn/ids.ts";
import type { ContainerId } from "../hadoop/yarn/records.ts";
import { parseLogFileName } from "../job/closed-log.ts";
import type { StoredLogs } from "./log-store.ts";
import { masterLog, type Tenancy, tenanciesOf } from "./master-log.ts";
import { type LineFilter, OrderedOutput, type OutputLine, type OutputPiece } from "./ordered-output.ts";
import { ownLines } from "./own-log.ts";
import { readText, storedExecutorLog, storedOutput } from "./stored-output.ts";

/** Everything that these tasks printed, one task after the other, for a job that has ended and whose logs are available. */
export async function* storedLines(
  store: StoredLogs,
  tasks: readonly string[],
): AsyncGenerator<{ readonly task: string; readonly line: OutputLine }> {
  const all = tenanciesOf((await readMasterLogs(store)).join(""));
  for (const task of tasks) {
    const own = all.filter((tenancy) => tenancy.task === task);
    for await (const line of new StoredTask().lines(store, own, {})) yield { task, line };
  }
}

/** What a task printed in its containers, in the order in which it ran in them. */
export class StoredTask {
  missingBytes = 0;

  async *lines(store: StoredLogs, tenancies: readonly Tenancy[], filter: LineFilter): AsyncGenerator<OutputLine> {
    for (const tenancy of tenancies) {
      const output = new OrderedOutput(await storedOutput(store, tenancy, filter.stream), filter);
      yield* output.lines();
      this.missingBytes += output.missingBytes;
    }
  }
}

/** What the executors of a task logged, container by container. */
export async function* executorLines(
  store: StoredLogs,
  tenancies: readonly Tenancy[],
  filter: LineFilter,
): AsyncGenerator<OutputLine> {
  for (const tenancy of tenancies) yield* ownLines(dataOf(storedExecutorLog(store, tenancy)), "executor", filter);
}

async function* dataOf(pieces: AsyncIterable<OutputPiece>): AsyncGenerator<Uint8Array> {
  for await (const { data } of pieces) yield data;
}

/** The logs of the AM's attempts that exist, in the order of the attempts. */
export async function readMasterLogs(store: StoredLogs): Promise<readonly string[]> {
  const attempts = new Map<ContainerId, { closed: string[]; last: string }>();
  for await (const file of store.logs(isMaster)) {
    const { log, start } = parseLogFileName(file.name);
    if (log !== masterLog) continue;
    const attempt = attempts.get(file.containerId) ?? { closed: [], last: "" };
    attempts.set(file.containerId, attempt);
    const text = await readText(file);
    if (start === undefined) attempt.last = text;
    else attempt.closed.push(text);
  }
  const byAttempt = [...attempts].sort(
    ([one], [other]) => parseContainerId(one).attempt - parseContainerId(other).attempt,
  );
  return byAttempt.map(([, { closed, last }]) => [...closed, last].join(""));
}

/** YARN starts every attempt's AM in the first container of the attempt. */
function isMaster(containerId: ContainerId): boolean {
  return containerId.endsWith("_000001");
}

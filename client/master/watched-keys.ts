import { ExitCode, UserError } from "../../src/errors.ts";
import { sleep } from "../../src/hadoop/clock.ts";
import { errorCode } from "../../src/hadoop/errors.ts";
import { withPrefix } from "../../src/job/store/transaction.ts";
import { shownEntry } from "../../src/job/store/transaction-json.ts";
import type { Change, Position, Watched, WatchWanted } from "../../src/job/store/watched.ts";
import type { KvChange, KvWatchJson } from "../printed-json.ts";
import { valueWords } from "./job-keys.ts";

/** The link to an AM, until it is closed. */
interface WatchLink {
  watch(wanted: WatchWanted): AsyncIterable<Watched>;
  close(): void;
}

interface WatchOptions {
  readonly prefix: string;
  readonly after?: Position;
  /** Connects to the job's AM; throws a UserError (`HAS_ENDED`) where the job has ended. */
  readonly connect: () => Promise<WatchLink>;
  readonly print: (news: KvWatchJson) => void;
}

const PAUSE_MS = 1_000;
/** How a watch ends when its AM goes away; also when that AM ends its job and cancels what is still open. */
const LOST = ["API_UNREACHABLE", "API_TIMEOUT", "API_CANCELLED"];

/**
 * Prints changes until the job ends, whichever AM reports them.
 * @throws UserError (`STORE_COMPACTED`, `STORE_RESET`) where some changes can no longer be reported
 */
export async function watchKeys({ prefix, connect, print, ...options }: WatchOptions): Promise<void> {
  const range = prefix === "" ? { from: "" } : withPrefix(prefix);
  let { after } = options;
  for (let isFirst = true; ; isFirst = false) {
    const link = await connect().catch((error: unknown) => {
      const code = errorCode(error);
      if (isFirst || (code !== "HAS_ENDED" && code !== "NOT_RUNNING")) throw error;
      return code;
    });
    if (link === "HAS_ENDED") return;
    if (typeof link === "object") after = await printAll(link, { range, ...(after && { after }) }, print);
    await sleep(PAUSE_MS);
  }
}

/** @returns the position that it reached before the AM was lost */
async function printAll(
  link: WatchLink,
  wanted: WatchWanted,
  print: WatchOptions["print"],
): Promise<Position | undefined> {
  let { after } = wanted;
  try {
    for await (const news of link.watch(wanted)) {
      if (news.type !== "changes") throw lastWord(news);
      const { attempt, revision } = news;
      after = { attempt, revision };
      for (const shown of byRevision(news.changes, after)) print(shown);
    }
  } catch (error) {
    if (!LOST.includes(String(errorCode(error)))) throw error;
  } finally {
    link.close();
  }
  return after;
}

function byRevision(changes: readonly Change[], { attempt, revision }: Position): readonly KvWatchJson[] {
  if (changes.length === 0) return [{ attempt, revision, changes: [] }];
  const found = new Map<number, KvChange[]>();
  for (const change of changes) {
    const shown = change.type === "put" ? { key: change.key, entry: shownEntry(change.entry) } : { key: change.key };
    found.set(change.revision, [...(found.get(change.revision) ?? []), shown]);
  }
  return Array.from(found, ([of, shown]) => ({ attempt, revision: of, changes: shown }));
}

function lastWord({ type }: Watched): UserError {
  const why =
    type === "reset"
      ? "The ApplicationMaster was lost with changes that had been told"
      : "The oldest changes behind that revision are forgotten";
  return new UserError(`${why}\n  List the keys again, and watch from there: kv ID list, then kv ID watch`, {
    code: type === "reset" ? "STORE_RESET" : "STORE_COMPACTED",
    exitCode: ExitCode.cluster,
  });
}

/** For people: one line for each key. */
export function watchLines({ revision, changes }: KvWatchJson): string[] {
  return changes.map(({ key, entry }) => `${revision}  ${key}  ${entry === undefined ? "gone" : valueWords(entry)}`);
}

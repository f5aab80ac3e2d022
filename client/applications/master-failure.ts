import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { parseContainerDiagnostics } from "../../src/job/diagnosis/container-diagnostics.ts";
import { type MasterReason, masterWords } from "../../src/job/reasons/master.ts";
import { type Remedy, remedyWords } from "../../src/job/reasons/remedies.ts";
import type { Cause } from "../../src/job/status.ts";

/** Our own programs begin their last message with this. */
const ourWord = "tony-ts: ";
/** Enough for a loader's message or a stack. */
const shownLines = 20;

/**
 * Why the AMs of an application ended that YARN gave up, from the ResourceManager's diagnostics; undefined when these do not mention
 * an AM. The stack frames searched for are those of
 * org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppImpl#getAppAttemptFailedDiagnostics and attempt.RMAppAttemptImpl.
 */
export function masterFailure(report: ApplicationReport, nowMs: number): Cause | undefined {
  const { diagnostics } = report;
  const ended = /AM Container for \S+ exited with\s+exitCode: (-?\d+)/.exec(diagnostics);
  const silent = /ApplicationMaster for attempt \S+ timed out/.test(diagnostics);
  if (report.state !== "FAILED" || (ended === null && !silent)) return undefined;
  const attempts = Number(/failed (\d+) times/.exec(diagnostics)?.[1] ?? 1);
  const exit = ended?.[1];
  const { reason, fix, lines }: Explained =
    exit === undefined
      ? { reason: { code: "am-silent", attempts }, fix: { code: "check-am-node" }, lines: [] }
      : explained(exit, diagnostics, attempts);
  return {
    class: "infrastructure",
    reason,
    summary: masterWords(reason),
    atMs: report.finishTimeMs === 0 ? nowMs : report.finishTimeMs,
    ...(exit === undefined ? {} : { exit }),
    lines,
    ...(fix === undefined ? {} : { remedy: remedyWords(fix), fix }),
    consequences: [],
    followed: [],
  };
}

interface Explained {
  readonly reason: MasterReason;
  readonly fix?: Remedy;
  readonly lines: readonly string[];
}

function explained(exit: string, diagnostics: string, attempts: number): Explained {
  const { memory, endedToken, stderr, words } = parseContainerDiagnostics(
    diagnostics.replace(/^[\s\S]*?Diagnostics: /, ""),
  );
  if (memory !== undefined) {
    const virtual = memory.kind === "virtual";
    const { used, limit } = memory;
    const reason: MasterReason = { code: "am-exceeded-memory", used, limit, virtual, attempts };
    return { reason, fix: { code: "raise-am-memory", virtual }, lines: [] };
  }
  const own = stderr
    .findLast((line) => line.startsWith(ourWord))
    ?.slice(ourWord.length)
    .replace(/\.$/, "");
  const others = stderr.filter((line) => !line.startsWith(ourWord));
  if (own !== undefined) return { reason: { code: "am-said", words: own, attempts }, lines: others.slice(-shownLines) };
  const lines = stderr.length > 0 ? stderr : words;
  if (exit === "-1000") {
    const fix: Remedy = { code: endedToken === undefined ? "check-am-files" : "outlive-am-tokens" };
    return { reason: { code: "am-not-prepared", attempts }, fix, lines: lines.slice(0, shownLines) };
  }
  return { reason: { code: "am-ended", attempts }, lines: lines.slice(-shownLines) };
}

import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { parseContainerDiagnostics } from "../../src/job/container-diagnostics.ts";
import type { Cause } from "../../src/job/status.ts";

/** Our own programs begin their last word with this. */
const ourWord = "tony-ts: ";
/** Enough for a loader's message or a stack. */
const shownLines = 20;

/**
 * Why an application's AMs ended, out of the ResourceManager's diagnostics, for an application that YARN gave up; undefined when these
 * do not speak of an AM. The frames searched for are those of
 * org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppImpl#getAppAttemptFailedDiagnostics and attempt.RMAppAttemptImpl.
 */
export function masterFailure(report: ApplicationReport, nowMs: number): Cause | undefined {
  const { diagnostics } = report;
  const ended = /AM Container for \S+ exited with\s+exitCode: (-?\d+)/.exec(diagnostics);
  const silent = /ApplicationMaster for attempt \S+ timed out/.test(diagnostics);
  if (report.state !== "FAILED" || (ended === null && !silent)) return undefined;
  const attempts = Number(/failed (\d+) times/.exec(diagnostics)?.[1] ?? 1);
  const times = attempts > 1 ? `, ${attempts} times` : "";
  const base = {
    class: "infrastructure",
    atMs: report.finishTimeMs === 0 ? nowMs : report.finishTimeMs,
    lines: [],
    consequences: [],
  } as const;
  const exit = ended?.[1];
  if (exit === undefined) {
    const remedy = "its node may be overloaded or cut off from the ResourceManager; tony-ts logs has the AM's log";
    return { ...base, summary: `the AM was not heard of any more${times}`, remedy };
  }
  return { ...base, exit, ...explained(exit, diagnostics, times) };
}

function explained(
  exit: string,
  diagnostics: string,
  times: string,
): Pick<Cause, "summary" | "lines"> & { remedy?: string } {
  const { memory, stderr, words } = parseContainerDiagnostics(diagnostics.replace(/^[\s\S]*?Diagnostics: /, ""));
  if (memory !== undefined) {
    const virtual = memory.kind === "virtual";
    const site = virtual ? ", or have the site raise yarn.nodemanager.vmem-pmem-ratio" : "";
    return {
      summary: `the AM used ${memory.used} of the ${memory.limit} of ${virtual ? "virtual " : ""}memory that YARN allows${times}`,
      remedy: `raise tony.am.memory${site}`,
      lines: [],
    };
  }
  const own = stderr
    .findLast((line) => line.startsWith(ourWord))
    ?.slice(ourWord.length)
    .replace(/\.$/, "");
  const others = stderr.filter((line) => !line.startsWith(ourWord));
  if (own !== undefined) return { summary: `${own}${times}`, lines: others.slice(-shownLines) };
  const lines = stderr.length > 0 ? stderr : words;
  if (exit === "-1000") {
    const remedy = "the node could not bring the AM's files into place";
    return { summary: `the AM's container could not be prepared${times}`, remedy, lines: lines.slice(0, shownLines) };
  }
  return { summary: `the AM's container ended${times}`, lines: lines.slice(-shownLines) };
}

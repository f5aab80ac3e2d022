import { ExitCode } from "../../src/errors.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { endedBecause } from "../../src/job/outcome.ts";
import type { OutcomeReason } from "../../src/job/reasons/outcomes.ts";
import type { JobOutcome } from "../../src/job/status.ts";
import { masterFailure } from "./master-failure.ts";

/** The ResourceManager has the last word on the result; the AM knows why. */
export function outcomeOf(report: ApplicationReport, told: JobOutcome | undefined, nowMs: number): JobOutcome {
  const result = resultOf(report);
  if (told?.result === result) return told;
  const endedAtMs = report.finishTimeMs === 0 ? nowMs : report.finishTimeMs;
  const cause = masterFailure(report, nowMs);
  if (cause !== undefined) return { ...endedBecause(result, endReason(report, cause.summary)), cause, endedAtMs };
  // RMAppImpl puts who and where before the words of whoever killed it: ours say it themselves.
  const said = report.diagnostics
    .trim()
    .replace(/^Application \S+ was killed by .* with diagnostic message: (?=killed by )/, "");
  return { ...endedBecause(result, endReason(report, said)), endedAtMs };
}

function endReason({ state }: ApplicationReport, said: string): OutcomeReason {
  return said === "" ? { code: "application-ended", state } : { code: "application-ended", state, words: said };
}

function resultOf({ state, finalStatus }: ApplicationReport): JobOutcome["result"] {
  if (state === "KILLED" || finalStatus === "KILLED") return "killed";
  return state === "FINISHED" && finalStatus === "SUCCEEDED" ? "succeeded" : "failed";
}

/** What a command exits with that waited for the job's end. */
export function exitCodeOf({ result }: JobOutcome): ExitCode {
  if (result === "succeeded") return ExitCode.succeeded;
  return result === "killed" ? ExitCode.killed : ExitCode.jobFailed;
}

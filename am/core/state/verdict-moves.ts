import { machine } from "../../../src/moves.ts";
import type { Verdict, VerdictPhase } from "./failures.ts";
import { follow, type Row } from "./machine.ts";
import type { Step } from "./step.ts";

const PHASES = {
  held: "nothing was done about it yet: the job could not go on after the present root cause, so it waits until every task is accounted for",
  proceeded: "the restart that follows from it, if any, has begun",
  doubted: "the same, but by later evidence the job cannot go on: it waits until every task is accounted for",
} satisfies Record<VerdictPhase, string>;

/**
 * Everything that may happen to a verdict until it is closed: when every task is accounted for, or the time for that is
 * up.
 */
const ROWS = [
  { on: "job-can-go-on", from: ["held", "doubted"], to: "proceeded", durable: true, does: "reconsider" },
  { on: "job-can-go-on", from: ["proceeded"], to: "ignored", durable: false, does: "reconsider" },
  { on: "job-cannot-go-on", from: ["proceeded"], to: "doubted", durable: true, does: "reconsider" },
  { on: "job-cannot-go-on", from: ["held", "doubted"], to: "ignored", durable: false, does: "reconsider" },
] as const satisfies readonly Row<VerdictPhase>[];

type VerdictMove = (typeof ROWS)[number]["on"];

export const VERDICT = machine<VerdictPhase, VerdictMove>({
  name: "verdict",
  phases: PHASES,
  groups: {},
  rows: ROWS,
});

/** The only way to change a verdict's phase. */
export function moveVerdict(step: Step, verdict: Verdict, on: VerdictMove): void {
  const { generation, scope } = verdict;
  follow(step, VERDICT, verdict, scope === "" ? `generation ${generation}` : scope, on);
}

/** Whether the job fails because of it, as it stands. */
export function endsJob({ phase }: Pick<Verdict, "phase">): boolean {
  return phase !== "proceeded";
}

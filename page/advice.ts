import { shownAdvice } from "../src/advice/advise.ts";
import { usualRoundings } from "../src/advice/roundings.ts";
import type { ShownAdvice } from "../src/page/portal-answers.ts";
import { ADVISED_TASKS, type RunAnswer } from "../src/page/run-answer.ts";
import { ask } from "./ask.ts";
import { el, fill } from "./dom.ts";
import type { Live } from "./live.ts";

/** All measurements are transferred, and a long-running job changes slowly. */
const AGAIN_MS = 300_000;

let askedAtMs = Number.NEGATIVE_INFINITY;

/** For a running job the advice is computed here, from time to time; it is placed below the initial content, which must not move. */
export function offerAdvice({ mayLook, isFinal, job, running }: Live): void {
  if (mayLook !== true || isFinal === true || running !== undefined || job?.state !== "running") return;
  if (performance.now() - askedAtMs < AGAIN_MS) return;
  askedAtMs = performance.now();
  void make();
}

async function make(): Promise<void> {
  try {
    const answer = await ask<RunAnswer | { readonly error: string }>("api/v1/run");
    if ("error" in answer) throw new RangeError(answer.error);
    const { status, series, tasks, roundings = usualRoundings, prices } = answer;
    const submittedAtMs = status.submittedAtMs ?? status.startedAtMs;
    const advice = shownAdvice([{ status, submittedAtMs, series }], roundings, prices);
    const some = status.tasks.length === tasks ? "" : `, by the first ${ADVISED_TASKS} tasks of each role`;
    fill("advice", [adviceNote(advice, `Advice so far${some}`)]);
  } catch {
    // Its ApplicationMaster is away, or of a release without this answer: the page shows separately whether it answers.
    askedAtMs = Number.NEGATIVE_INFINITY;
  }
}

/** What the next run could do better. */
export function adviceNote({ lines, settings }: ShownAdvice, title: string): HTMLElement | "" {
  if (lines.length === 0) return "";
  return el("div", { class: "note" }, [
    el("h2", {}, [title]),
    ...lines.map((line) => el("p", {}, [line])),
    settings.length === 0
      ? ""
      : el("p", {}, ["paste: ", el("code", {}, [settings.map((one) => `-conf ${one}`).join(" ")])]),
  ]);
}

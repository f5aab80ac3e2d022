import type { Transfer } from "../status.ts";

/** `checkpoint of step 5` */
export function transferName({ what, step }: Pick<Transfer, "what" | "step">): string {
  return what !== "output" ? `checkpoint of step ${step}` : "output";
}

/** The result of an upload that did not store everything: `was not stored in hdfs://…: …` */
export function stateWords({ state, url, reason }: Pick<Transfer, "state" | "url" | "reason">): string {
  return `was not stored ${state === "incomplete" ? "completely " : ""}in ${url}: ${reason}`;
}

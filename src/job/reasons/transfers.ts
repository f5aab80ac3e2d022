import type { Transfer } from "../status.ts";

/** `checkpoint of step 5` */
export function transferName({ what, step }: Pick<Transfer, "what" | "step">): string {
  return what !== "output" ? `checkpoint of step ${step}` : "output";
}

/** How an upload ended that did not store all: `was not stored in hdfs://…: …` */
export function stateWords({ state, url, reason }: Pick<Transfer, "state" | "url" | "reason">): string {
  return `was not stored ${state === "incomplete" ? "completely " : ""}in ${url}: ${reason}`;
}

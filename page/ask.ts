import { base } from "./base.ts";

/** How often the page asks, and how seldom when nothing changes. */
export const OFTEN_MS = 5_000;
export const SELDOM_MS = 30_000;

/**
 * What whoever serves this page answers. The last part of its address, which a browser keeps to itself, is what shows the whole job.
 * @param path below the page's folder
 * @throws TypeError where something else answers
 */
export async function ask<Answer>(path: string): Promise<Answer> {
  const key = location.hash.slice(1);
  const accept = key === "" ? "application/json" : `application/json; key=${key}`;
  const response = await fetch(base(location.pathname) + path, { headers: { Accept: accept }, cache: "no-store" });
  if (!response.headers.get("Content-Type")?.startsWith("application/json")) throw new TypeError("no JSON");
  const answer: Answer = await response.json();
  return answer;
}

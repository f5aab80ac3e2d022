import { base } from "./base.ts";

/** How often the page asks, and how rarely when nothing changes. */
export const OFTEN_MS = 5_000;
export const SELDOM_MS = 30_000;

/**
 * The answer of the server of this page. The last part of the page's address, which a browser never sends, is the key to the whole
 * job.
 * @param path below the page's folder
 * @throws TypeError where something else answers
 */
export async function ask<Answer>(path: string): Promise<Answer> {
  const response = await fetchFrom(path);
  if (!isOf("application/json", response)) throw new TypeError("no JSON");
  const answer: Answer = await response.json();
  return answer;
}

/**
 * Takes events that are pushed as the job changes, until the stream ends. Only the page of `tony-ts page ID` has such a stream, and it is at
 * the root path: YARN's proxy would buffer the events, and other servers do not offer a stream.
 */
export async function listen<Event>(path: string, take: (event: Event) => void, signal: AbortSignal): Promise<void> {
  if (location.pathname !== "/") return;
  const response = await fetchFrom(path, signal);
  if (!isOf("text/event-stream", response) || response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ; ) {
    const { done, value = "" } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) take(JSON.parse(event.slice("data: ".length)));
  }
}

function fetchFrom(path: string, signal?: AbortSignal): Promise<Response> {
  const key = location.hash.slice(1);
  const accept = key === "" ? "application/json" : `application/json; key=${key}`;
  const options = { headers: { Accept: accept }, ...(signal && { signal }) };
  return fetch(base(location.pathname) + path, { ...options, cache: "no-store" });
}

function isOf(type: string, response: Response): boolean {
  return response.headers.get("Content-Type")?.startsWith(type) === true;
}

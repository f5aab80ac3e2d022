import { createHash, timingSafeEqual } from "node:crypto";
import type { ServerResponse } from "node:http";

/** Below this path, relative to its own address, a page sends its requests. */
export const PAGE_API = "/api/v1/";

/**
 * Whether a request of a page proves that it has that key, which the page takes from the part of its address that browsers never send.
 * `Accept` is the one header of a browser's that YARN's proxy passes on unchanged and that nobody logs.
 */
export function isPageProof(accept: string | undefined, key: string): boolean {
  const [, given = ""] = /^application\/json; key=([\w-]{1,100})$/.exec(accept ?? "") ?? [];
  return timingSafeEqual(sha256(given), sha256(key));
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** For every answer: a browser does not guess another type, and tells no other site where it came from. */
export function protect(response: ServerResponse): void {
  response.setHeader("X-Content-Type-Options", "nosniff");
  response.setHeader("Referrer-Policy", "no-referrer");
}

/** Nothing from other sites, and only the scripts and styles that were built into the page. */
export function contentPolicy(html: Buffer): string {
  const hashes = (tag: string) =>
    [...html.toString("utf8").matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, "g"))]
      .map(([, text = ""]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`)
      .join(" ");
  return [
    "default-src 'none'",
    `script-src ${hashes("script")}`,
    `style-src ${hashes("style")}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

export function sendPage(response: ServerResponse, html: Buffer, policy: string): void {
  response.setHeader("Content-Security-Policy", policy);
  response.setHeader("Cache-Control", "private, max-age=300");
  send(response, 200, "text/html; charset=utf-8", html);
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  response.setHeader("Cache-Control", "no-store");
  send(response, status, "application/json; charset=utf-8", Buffer.from(JSON.stringify(body)));
}

export function send(response: ServerResponse, status: number, type: string, body: Buffer): void {
  response.writeHead(status, { "Content-Type": type, "Content-Length": body.length });
  response.end(body);
}

/** A job's settings as its page reads them. */
export type SettingsAnswer = { readonly xml: string } | { readonly error: string };

/** A hand-written file may be larger; a job's own has a few hundred lines. */
const MOST_BYTES = 2 ** 20;

/** @param content `tony-final.xml`, which a job wrote; undefined: it has none */
export function settingsAnswer(content: Buffer | undefined): SettingsAnswer {
  if (content === undefined) return { error: "The job left no settings" };
  if (content.length > MOST_BYTES)
    return { error: `The job's settings have ${content.length} bytes: too many for this page` };
  const xml = content.toString("utf8");
  // Entities that a document type declares could expand without limit.
  return xml.includes("<!") ? { error: "The job's settings are not in a file of ours" } : { xml };
}

import { request } from "node:http";
import { Problem } from "../problem.mjs";

/**
 * One HTTP request to a daemon.
 * @param {string} url
 * @param {{ method?: string, body?: unknown, timeoutMs?: number }} [options] a body is sent as JSON
 * @returns {Promise<{ status: number, text: string }>} rejects when nobody answers in time
 */
export function httpRequest(url, { method = "GET", body, timeoutMs = 5000 } = {}) {
  return new Promise((resolve, reject) => {
    const headers = {
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const call = request(url, { method, headers, agent: false, timeout: timeoutMs }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part) => {
        text += part;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", reject);
    });
    call.on("timeout", () => call.destroy(new Error(`no answer from ${url} within ${timeoutMs} ms`)));
    call.on("error", reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** The JSON a daemon answers, or undefined while it does not answer or not with 200. @param {string} url */
export async function getJson(url) {
  try {
    const { status, text } = await httpRequest(url, { timeoutMs: 2000 });
    return status === 200 ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a daemon answers at all: 5xx is what it says while it cannot serve. @param {string} url */
export async function isAnswered(url) {
  try {
    return (await httpRequest(url, { timeoutMs: 2000 })).status < 500;
  } catch {
    return false;
  }
}

/**
 * A change that a daemon must make: no answer, or one outside 2xx, ends the command. A daemon on a busy machine may
 * take long for its first change.
 */
export async function change(url, { method, body }) {
  const { status, text } = await httpRequest(url, { method, body, timeoutMs: 60_000 }).catch((cause) => {
    throw new Problem(`${method} ${url} failed: ${cause.message}`, { cause });
  });
  if (status < 200 || status > 299) throw new Problem(`${method} ${url} was answered ${status}: ${text.slice(0, 500)}`);
}

import { readFileSync } from "node:fs";
import { request as plainRequest } from "node:http";
import { request as tlsRequest } from "node:https";
import { Problem, wordsOf } from "../problem.mjs";
import { layout } from "./folders.mjs";
import { loginCookie } from "./secure/web-login.mjs";

/**
 * Requests to the web servers of a cluster's daemons. `as` is the requesting user: given by `user.name` on an open cluster, and by a login on
 * a secure one.
 *
 * @typedef {object} AskedCluster the facts of a cluster that decide how its web servers are asked
 * @property {{ readonly secure: boolean }} settings
 * @property {string} state
 * @property {{ readonly yarn: { readonly name: string } }} users
 */

/**
 * @param {AskedCluster} cluster
 * @param {string} url
 * @param {{ as?: string | undefined, method?: string, body?: unknown, timeoutMs?: number }} [options] a body is sent as JSON
 * @returns {Promise<{ status: number, text: string }>} rejects when nobody answers in time
 */
export function httpRequest(cluster, url, { as, method = "GET", body, timeoutMs = 5000 } = {}) {
  return new Promise((resolve, reject) => {
    const { address, headers, options } = accessTo(cluster, url, as);
    const request = address.startsWith("https:") ? tlsRequest : plainRequest;
    const call = request(address, { ...options, method, agent: false, timeout: timeoutMs }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part) => {
        text += part;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", reject);
    });
    call.setHeader("accept", "application/json");
    if (body !== undefined) call.setHeader("content-type", "application/json");
    for (const [name, value] of Object.entries(headers)) call.setHeader(name, value);
    call.on("timeout", () => call.destroy(new Error(`no answer from ${url} within ${timeoutMs} ms`)));
    call.on("error", reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/**
 * @param {AskedCluster} cluster
 * @param {string} url
 * @param {string | undefined} user
 * @returns {{ address: string, headers: Record<string, string>, options: import("node:https").RequestOptions }}
 */
function accessTo(cluster, url, user) {
  if (cluster.settings.secure) {
    const ca = readFileSync(layout(cluster.state).secure.certificateAuthority);
    // Every authenticated user may look.
    return {
      address: url,
      headers: { cookie: loginCookie(cluster, user ?? cluster.users.yarn.name, url) },
      options: { ca },
    };
  }
  const address = new URL(url);
  if (user !== undefined) address.searchParams.set("user.name", user);
  return { address: address.href, headers: {}, options: {} };
}

/**
 * A daemon's JSON answer, or undefined while it does not answer, or not with 200.
 * @param {AskedCluster} cluster @param {string} url @param {{ as?: string }} [options] @returns {Promise<unknown>}
 */
export async function getJson(cluster, url, { as } = {}) {
  try {
    const { status, text } = await httpRequest(cluster, url, { as, timeoutMs: 2000 });
    return status === 200 ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The value at a path in an answer, if it exists.
 * @param {unknown} answer @param {...(string | number)} path @returns {unknown}
 */
export function at(answer, ...path) {
  return path.reduce(
    (value, key) => (typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined),
    answer,
  );
}

/** Whether a daemon answers properly: while it cannot serve, it answers with 5xx. @param {AskedCluster} cluster @param {string} url */
export async function isAnswered(cluster, url) {
  try {
    return (await httpRequest(cluster, url, { timeoutMs: 2000 })).status < 500;
  } catch {
    return false;
  }
}

/**
 * Makes a change at a daemon: no answer, or one outside 2xx, ends the command. On a busy machine the first change may
 * take long.
 * @param {AskedCluster} cluster @param {string} url @param {{ as: string, method: string, body?: unknown }} options
 */
export async function change(cluster, url, { as, method, body }) {
  const { status, text } = await httpRequest(cluster, url, { as, method, body, timeoutMs: 60_000 }).catch((cause) => {
    throw new Problem(`${method} ${url} failed: ${wordsOf(cause)}`, { cause });
  });
  if (status < 200 || status > 299) throw new Problem(`${method} ${url} was answered ${status}: ${text.slice(0, 500)}`);
}

import { readFileSync } from "node:fs";
import { request as plainRequest } from "node:http";
import { request as tlsRequest } from "node:https";
import { Problem, wordsOf } from "../problem.mjs";
import { layout } from "./folders.mjs";
import { loginCookie } from "./secure/web-login.mjs";

/**
 * Requests to the web ends of a cluster's daemons. `as` is the user who asks: where nobody has to prove who he is, by `user.name`; on a secure
 * cluster by a login.
 *
 * @typedef {object} AskedCluster what of a cluster tells how its web ends are asked
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
    // Everybody who is known may look.
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
 * The JSON a daemon answers, or undefined while it does not answer or not with 200.
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
 * What stands at a path of an answer, where there is such.
 * @param {unknown} answer @param {...(string | number)} path @returns {unknown}
 */
export function at(answer, ...path) {
  return path.reduce(
    (value, key) => (typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined),
    answer,
  );
}

/** Whether a daemon answers at all: 5xx is what it says while it cannot serve. @param {AskedCluster} cluster @param {string} url */
export async function isAnswered(cluster, url) {
  try {
    return (await httpRequest(cluster, url, { timeoutMs: 2000 })).status < 500;
  } catch {
    return false;
  }
}

/**
 * A change that a daemon must make: no answer, or one outside 2xx, ends the command. A daemon on a busy machine may
 * take long for its first change.
 * @param {AskedCluster} cluster @param {string} url @param {{ as: string, method: string, body?: unknown }} options
 */
export async function change(cluster, url, { as, method, body }) {
  const { status, text } = await httpRequest(cluster, url, { as, method, body, timeoutMs: 60_000 }).catch((cause) => {
    throw new Problem(`${method} ${url} failed: ${wordsOf(cause)}`, { cause });
  });
  if (status < 200 || status > 299) throw new Problem(`${method} ${url} was answered ${status}: ${text.slice(0, 500)}`);
}

import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { Problem } from "../problem.mjs";
import { cacheFolder, layout } from "./folders.mjs";
import { withLock } from "./lock.mjs";

/**
 * @typedef {object} Addresses
 * @property {string} master
 * @property {string} [secondMaster] of the second ResourceManager and NameNode, where there are two
 * @property {string[]} nodes of the NodeManagers
 */

/**
 * Every cluster has its own /24 of the loopback network and the standard ports on it, so that several can run concurrently. The
 * masters are at .1 and .2, the NodeManagers at .11, .12, and so on. A network namespace has a loopback network of its own: a
 * cluster with an isolated node has a /24 of a private network instead, on a bridge that never leaves this machine.
 * @param {number} network 0 for 127.0.0.x
 * @param {number} nodeCount
 * @returns {Addresses}
 */
export function addresses(network, nodeCount, { isolated = false, ha = false } = {}) {
  const prefix = `${isolated ? "10.213" : "127.0"}.${network}`;
  return {
    master: `${prefix}.1`,
    ...(ha ? { secondMaster: `${prefix}.2` } : {}),
    nodes: Array.from({ length: nodeCount }, (_, index) => `${prefix}.${11 + index}`),
  };
}

/** Ports whose use shows that something without a claim uses a /24: the best known ports of the masters. */
const TELLING_PORTS = [8020, 8088, 9870, 8032];

/**
 * The /24 of the cluster in this state folder: its current one, or else a free one, claimed for it in the user's cache.
 * "default" gets 127.0.0.x if that is free, as in the documentation.
 * @param {{ name: string, state: string }} cluster
 * @returns {Promise<number>}
 */
export async function claimNetwork({ name, state }) {
  const folder = claimsFolder();
  await mkdir(folder, { recursive: true });
  return await withLock(`networks ${folder}`, async () => {
    const claims = await liveClaims(folder);
    const own = [...claims].find(([, owner]) => owner === state);
    if (own !== undefined) return own[0];
    for (let network = name === "default" ? 0 : 1; network < 255; network += 1) {
      if (claims.has(network) || !(await isUnused(network))) continue;
      await writeFile(join(folder, String(network)), state);
      return network;
    }
    throw new Problem(
      "No loopback network 127.0.N.x is free: take a cluster down with `npm run cluster -- down --delete`.",
    );
  });
}

/** Releases the /24. @param {string} state */
export async function releaseNetwork(state) {
  const folder = claimsFolder();
  if (!existsSync(folder)) return;
  await withLock(`networks ${folder}`, async () => {
    for (const [network, owner] of await liveClaims(folder)) {
      if (owner === state) await rm(join(folder, String(network)));
    }
  });
}

const claimsFolder = () => join(cacheFolder(), "networks");

/**
 * The claims of clusters that still have their state; others are dropped, so that a deleted checkout does not keep addresses. @param
 * {string} folder
 */
async function liveClaims(folder) {
  /** @type {Map<number, string>} */
  const claims = new Map();
  for (const file of await readdir(folder)) {
    const owner = await readFile(join(folder, file), "utf8");
    if (existsSync(layout(owner).state)) claims.set(Number(file), owner);
    else await rm(join(folder, file), { force: true });
  }
  return claims;
}

/** Tested by connecting: listening would interfere with a cluster that is starting there. @param {number} network */
async function isUnused(network) {
  const { master } = addresses(network, 0);
  for (const port of TELLING_PORTS) if (await accepts(master, port)) return false;
  return true;
}

/** Whether nobody listens on this address and port. @param {string} host @param {number} port @returns {Promise<boolean>} */
export function canListen(host, port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.on("error", () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}

/** Whether somebody accepts connections there, now and within a second. @param {string} host @param {number} port @returns {Promise<boolean>} */
export function accepts(host, port) {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1000 });
    const end = (/** @type {boolean} */ answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.on("connect", () => end(true));
    socket.on("error", () => end(false));
    socket.on("timeout", () => end(false));
  });
}

import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { addresses, canListen, claimNetwork, releaseNetwork } from "../../scripts/cluster/network.mjs";

/** @type {string} */
let folder;
/** @type {string | undefined} */
let cacheBefore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tony-network-"));
  // The tool keeps away from a cache that the daemons' users could not enter.
  await chmod(folder, 0o755);
  cacheBefore = process.env.XDG_CACHE_HOME;
  process.env.XDG_CACHE_HOME = folder;
});
afterEach(async () => {
  if (cacheBefore === undefined) delete process.env.XDG_CACHE_HOME;
  else process.env.XDG_CACHE_HOME = cacheBefore;
  await rm(folder, { recursive: true, force: true });
});

/** @param {string} name */
async function clusterIn(name) {
  const state = join(folder, name);
  await mkdir(state);
  return { name, state };
}

test("a cluster with an isolated node is not on the loopback network, which no namespace shares", () => {
  expect(addresses(7, 1)).toEqual({ master: "127.0.7.1", nodes: ["127.0.7.11"] });
  expect(addresses(7, 1, { isolated: true })).toEqual({ master: "10.213.7.1", nodes: ["10.213.7.11"] });
});

test("gives every cluster a network of its own, also when they ask at the same time", async () => {
  const clusters = await Promise.all(["a", "b", "c", "d"].map(clusterIn));
  const networks = await Promise.all(clusters.map(claimNetwork));
  expect(new Set(networks).size).toBe(4);
  // 127.0.0.x is for the cluster named default.
  expect(networks).not.toContain(0);
});

test("gives a cluster the network that it has", async () => {
  const cluster = await clusterIn("kept");
  expect(await claimNetwork(cluster)).toBe(await claimNetwork(cluster));
});

test("takes back what a deleted cluster had, and what is released", async () => {
  const deleted = await clusterIn("deleted");
  const released = await clusterIn("released");
  const third = await clusterIn("third");
  const first = await claimNetwork(deleted);
  await rm(deleted.state, { recursive: true });
  expect(await claimNetwork(released)).toBe(first);
  await releaseNetwork(released.state);
  expect(await claimNetwork(third)).toBe(first);
});

test("passes over a network where another process has one of Hadoop's ports", async () => {
  const { master } = addresses(await claimNetwork(await clusterIn("probe")), 0);
  await rm(join(folder, "probe"), { recursive: true });
  const squatter = createServer().listen(8032, master);
  await once(squatter, "listening");
  try {
    expect(await canListen(master, 8032)).toBe(false);
    const network = await claimNetwork(await clusterIn("other"));
    expect(addresses(network, 0).master).not.toBe(master);
  } finally {
    await once(squatter.close(), "close");
  }
});

test("puts the masters at .1, and .2 where there are two, and the NodeManagers from .11", () => {
  expect(addresses(7, 1, { ha: true })).toEqual({
    master: "127.0.7.1",
    secondMaster: "127.0.7.2",
    nodes: ["127.0.7.11"],
  });
  expect(addresses(7, 2)).toEqual({ master: "127.0.7.1", nodes: ["127.0.7.11", "127.0.7.12"] });
});

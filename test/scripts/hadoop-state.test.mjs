import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "@jest/globals";
import { killApplication } from "../../scripts/cluster/hadoop-state.mjs";
import { addresses } from "../../scripts/cluster/network.mjs";
import { DEFAULT_SETTINGS } from "../../scripts/cluster/record.mjs";

const user = (/** @type {string} */ name) => ({ name, uid: 1, gid: 1 });
const folder = mkdtempSync(join(tmpdir(), "tony-hadoop-state-"));
afterAll(() => rmSync(folder, { recursive: true }));
const cluster = {
  name: "test",
  state: folder,
  network: 251,
  javaHome: folder,
  classArchive: join(folder, "classes.jsa"),
  jars: folder,
  addresses: addresses(251, 0, { ha: true }),
  users: { hdfs: user("hdfs"), yarn: user("yarn") },
  submitter: "ada",
  settings: { ...DEFAULT_SETTINGS, ha: true },
};
/** @type {import("node:http").Server[]} */
const servers = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/**
 * A ResourceManager's web server: says its state, and answers a change as it is told.
 * @param {string} host @param {{ state: () => string, change: () => number }} answers
 */
async function resourceManager(host, { state, change }) {
  const server = createServer((request, response) => {
    if (request.url?.endsWith("/info")) response.end(JSON.stringify({ clusterInfo: { haState: state() } }));
    else response.writeHead(change()).end("the answer's text");
  });
  servers.push(server);
  await once(server.listen(8088, host), "listening");
}

const { master, secondMaster = "" } = cluster.addresses;

test("a change is asked of the next active master when the one that was found stands by before it answers", async () => {
  let active = "first";
  /** @type {string[]} */
  const asked = [];
  await resourceManager(master, {
    state: () => (active === "first" ? "ACTIVE" : "STANDBY"),
    change: () => {
      asked.push("first");
      active = "second";
      return 307;
    },
  });
  await resourceManager(secondMaster, {
    state: () => (active === "second" ? "ACTIVE" : "STANDBY"),
    change: () => {
      asked.push("second");
      return 202;
    },
  });
  await killApplication(cluster, "application_1_0001");
  expect(asked).toEqual(["first", "second"]);
});

test("what the active master refuses is told at once", async () => {
  await resourceManager(master, { state: () => "ACTIVE", change: () => 400 });
  await expect(killApplication(cluster, "application_1_0001")).rejects.toThrow(/answered 400: the answer's text/);
});

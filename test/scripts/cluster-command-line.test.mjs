import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "@jest/globals";

const TOOL = fileURLToPath(new URL("../../scripts/cluster.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "tony-command-line-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** @param {...string} args */
function cluster(...args) {
  const env = { ...process.env, TONY_CLUSTER_DIR: folder };
  const { status, stdout, stderr } = spawnSync(process.execPath, [TOOL, ...args], { env, encoding: "utf8" });
  return { status, stdout, stderr };
}

describe("says what is wrong with the command line, and does nothing", () => {
  test.each([
    [["upp"], "Not understood: upp"],
    [["up", "too", "much"], "Not understood: up too much"],
    [["kill"], "Not understood: kill"],
    [["up", "--nam", "x"], "Unknown option '--nam'"],
    [["up", "--name", "../elsewhere"], "--name ../elsewhere: only lower-case letters"],
    [["up", "--nodes", "0"], "--nodes 0: must be a whole number from 1 to 16"],
    [["up", "--nm-heartbeat-ms", "1s"], "--nm-heartbeat-ms 1s: must be a whole number from 50 to 60000"],
    [["up", "--isolate", "0"], "--isolate 0: must be a whole number from 1 to 16"],
    [["up", "--small-disk", "x"], "--small-disk x: must be a whole number from 1 to 16"],
    [["unplug"], "Not understood: unplug"],
    [["plug", "nm1", "--from", "10.0.0.1"], "--from HOST goes with unplug"],
    [["decommission"], "Not understood: decommission"],
    [["recommission", "nm1", "--within", "5"], "--within S goes with decommission"],
    [["decommission", "nm1", "--within", "0"], "--within 0: must be a whole number from 1 to 86400"],
    [["up", "--label", "gpu"], "--label gpu: must be exclusive, shareable or none"],
    [["up", "--compiler", "c2"], "--compiler c2: must be quick or full"],
    [["up", "--calculator", "gpu"], "--calculator gpu: must be dominant or default"],
    [["up", "--scheduler", "fifo"], "--scheduler fifo: must be capacity or fair"],
    [["up", "--scheduling", "now"], "--scheduling now: must be heartbeat, async or multi-node"],
    [["up", "--release", "3.4"], "--release 3.4: must be 2.10.2, 3.2.4, 3.3.6 or 3.4.2"],
    [["up", "--secure", "--protection", "all"], "--protection all: must be privacy, integrity or authentication"],
    [["up", "--protection", "privacy"], "--protection goes with --secure"],
    [["up", "--secure", "--token-lifetime", "1"], "--token-lifetime 1: must be a whole number from 10 to 604800"],
    [["status", "--as", "alice"], "--as USER and --ticket-lifetime S go with env"],
    [["env", "--ticket-lifetime", "60"], "--ticket-lifetime S goes with --as USER"],
    [["up", "--set", "dfs.replication"], "--set dfs.replication: must be KEY=VALUE"],
  ])("%j", (args, message) => {
    expect(cluster(...args)).toEqual({ status: 2, stdout: "", stderr: expect.stringContaining(message) });
  });
});

test("without a command it says what there is", () => {
  expect(cluster()).toEqual({ status: 0, stderr: "", stdout: expect.stringContaining("npm run cluster -- up") });
});

test("of a cluster that does not exist: status and env say how to make it, down has nothing to do", () => {
  const unknown = { status: 1, stdout: "", stderr: "There is no cluster nix yet: npm run cluster -- up --name nix\n" };
  expect(cluster("status", "--name", "nix")).toEqual(unknown);
  expect(cluster("env", "--name", "nix")).toEqual(unknown);
  expect(cluster("kill", "namenode", "--name", "nix")).toEqual(unknown);
  expect(cluster("down", "--name", "nix")).toMatchObject({
    status: 0,
    stderr: expect.stringContaining("no cluster nix"),
  });
});

import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { eventually } from "../../support/eventually.ts";
import { StandInManager } from "../stand-in-manager.ts";
import { LocalMachine } from "./local-machine.ts";

// Loaded before the command does so.
import "../../../client/results/portal.ts";

let machine: LocalMachine;
let manager: StandInManager;
let history = "";
beforeEach(async () => {
  machine = new LocalMachine();
  manager = await StandInManager.start(machine.folder);
  machine.environment = { ...machine.environment, HADOOP_CONF_DIR: manager.configuration };
  history = path.join(machine.folder, "history");
  mkdirSync(path.join(history, "intermediate"), { recursive: true });
});
afterEach(async () => {
  await manager.stop();
  await machine.dispose();
});

const place = () => ["--conf", `tony.history.location=file://${history}`];

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}

describe("tony-ts portal", () => {
  test.each([
    [["--port", "65536"], "--port takes a port: 0 to 65535"],
    [["--port", "-1"], "--port takes a port: 0 to 65535"],
    [["--port", "80.5"], "--port takes a port: 0 to 65535"],
    [["--port", "http"], "--port takes a port: 0 to 65535"],
    [["--listen", "0.0.0.0"], expect.stringMatching(/^--listen is for people who log in: /)],
    [["--proxy", "http://10.0.0.1"], expect.stringMatching(/^--proxy and --user-header go together: /)],
    [["--user-header", "X-User"], expect.stringMatching(/^--proxy and --user-header go together: /)],
  ])("%j is refused", async (words, message) => {
    const { exitCode, out, err } = await machine.run("portal", ...words, ...place());
    expect([exitCode, out, err.trimEnd()]).toEqual([2, "", message]);
  });

  test("shows a history at the port that is named until a signal comes, and exits in order then", async () => {
    const port = await freePort();
    const shown = machine.start("portal", "--port", String(port), ...place());
    const isThere = () =>
      fetch(`http://127.0.0.1:${port}/api/v1/jobs`).then(
        ({ ok }) => ok,
        () => false,
      );
    await eventually("the portal", isThere);
    process.emit("SIGTERM", "SIGTERM");
    expect((await shown.ended).exitCode).toBe(0);
    expect(await isThere()).toBe(false);
  });

  test.each([
    { words: ["--dry-run"], ends: "does not wait for a signal" },
    { words: ["--dry-run", "--maintain"], ends: "moves nothing all the same" },
  ])("$words $ends", async ({ words }) => {
    const old = path.join(history, "intermediate", "application_1_0001");
    mkdirSync(old);
    expect((await machine.run("portal", ...words, "--port", "0", ...place())).exitCode).toBe(0);
    expect(existsSync(old)).toBe(true);
  });
});

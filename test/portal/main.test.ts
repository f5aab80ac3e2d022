import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { TestBundle } from "../support/bundle.ts";
import { eventually } from "../support/eventually.ts";
import { HistoryFolder } from "./history-folder.ts";

const bundle = new TestBundle("portal/main.ts");
const folder = path.dirname(bundle.file);
const history = new HistoryFolder();
beforeAll(() => {
  for (const page of ["portal.html", "page.html", "compare.html"])
    writeFileSync(path.join(folder, page), `<html>${page}</html>`);
  writeFileSync(path.join(folder, "core-site.xml"), "<configuration/>");
});
afterAll(() => {
  history.remove();
  bundle.remove();
});

const settings = {
  port: 0,
  configurationFolder: folder,
  hadoop: { "yarn.resourcemanager.hostname": "127.0.0.1" },
  history: { timeZone: "UTC", location: `file://${history.root}` },
  prices: {},
};

/** As `tony-ts portal` starts it: it goes when its standard input ends. */
function started(changes: object): ChildProcessWithoutNullStreams {
  const portal = spawn(process.execPath, [bundle.file]);
  portal.stdin.write(`${JSON.stringify({ ...settings, ...changes })}\n`);
  return portal;
}

describe("the portal's program", () => {
  test("says where it is, shows the jobs there, and goes with who holds its standard input open", async () => {
    history.write({ number: 1, endedAtMs: 5_000 });
    const portal = started({});
    const [said] = await once(portal.stdout, "data");
    const [, address = ""] = /^The portal is at (http\S+)\n$/.exec(String(said)) ?? [];
    expect(await (await fetch(address)).text()).toContain("portal.html");
    const jobs = async () => await (await fetch(new URL("/api/v1/jobs", address))).text();
    await eventually("its job", async () => (await jobs()).includes('"bert"'));
    portal.stdin.end();
    expect(await once(portal, "exit")).toEqual([0, null]);
  });

  const upkeep = { keepMs: 1_000, keepFailedMs: 1_000, moverIntervalMs: 0, purgerIntervalMs: 0, isDryRun: true };
  test("tells what it would move and remove, does nothing, and ends", async () => {
    history.write({ number: 2, endedAtMs: 5_000 });
    const portal = started({ upkeep });
    expect(await text(portal.stdout)).toMatch(/would remove .*\n.*2 to remove, of 2; nothing was done\n$/);
  });

  test.each([
    ["there is no history", { history: { timeZone: "UTC" } }, "tony.history.location is not set"],
    [
      "a dry run cannot read it",
      { upkeep, history: { timeZone: "UTC", location: `file://${bundle.file}` } },
      path.basename(bundle.file),
    ],
  ])("says why it cannot start where %s", async (_where, changes, why) => {
    const portal = started(changes);
    const [said, [code]] = await Promise.all([text(portal.stderr), once(portal, "exit")]);
    expect(said).toMatch(new RegExp(`^tony-ts: the portal cannot start: .*${why}`));
    expect(code).toBe(1);
  });
});

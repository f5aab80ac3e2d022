import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it, test } from "@jest/globals";
import { ClientCalls, readOwnLog, toldReason, unknownTask } from "../../../am/clients/client-calls.ts";
import type { StoreCall } from "../../../am/clients/job-store.ts";
import { allRights, rightsOfTask } from "../../../am/core/store/rights.ts";
import { closedLogName } from "../../../src/job/closed-log.ts";
import { transactions } from "../../../src/job/store/transaction.ts";
import { RotatingLog } from "../../../src/rotating-log.ts";
import { eventually } from "../../support/eventually.ts";
import { aJobSpec } from "../../support/job-spec.ts";

describe("why a job is ended", () => {
  const owner = "alice";

  it.each([
    ["alice", "killed by alice from node-1", "killed by alice from node-1"],
    ["alice", "enough", "enough"],
    ["bob", "killed by bob from node-1", "killed by bob from node-1"],
    ["bob", "killed by alice from node-1", "killed by alice from node-1, by bob"],
    ["bob", "killed by bob's friend", "killed by bob's friend, by bob"],
  ])("says who did it: %s, who says %p", (user, reason, told) => {
    expect(toldReason(reason, { user, owner })).toBe(told);
  });

  it("is one line of some thousand letters, whatever is sent", () => {
    const told = toldReason(`enough\n  worker:0 failed\u2028really${"x".repeat(250_000)}`, { user: "bob", owner });
    expect(told).toMatch(/^enough {3}worker:0 failed reallyx+…, by bob$/);
    expect(told.length).toBeLessThan(5_000);
  });
});

describe("a task that is asked for", () => {
  const [role] = aJobSpec().roles;
  const roles = role === undefined ? [] : [{ ...role, name: "worker", instances: 2 }];

  it("is known of each trial of a search", () => {
    expect(unknownTask({ roles }, "worker:5")).toBe("The job has no task worker:5; there are worker:0 to worker:1");
    expect(unknownTask({ roles, trials: 3 }, "worker:5")).toBeUndefined();
    expect(unknownTask({ roles, trials: 3 }, "worker:6")).toBe(
      "The job has no task worker:6; there are worker:0 to worker:5",
    );
  });
});

describe("who uses the key-value store", () => {
  const asked: StoreCall[] = [];
  const watched: unknown[] = [];
  const calls = new ClientCalls({
    spec: aJobSpec(),
    owner: "alice",
    feed: { follow: () => () => undefined },
    tails: { open: () => () => undefined },
    ownLog: new RotatingLog("/nowhere/am.log"),
    store: {
      call: async (call) => {
        asked.push(call);
        return { revision: 1, succeeded: true, results: [] };
      },
      watch: async (...call) => {
        watched.push(call);
        return () => undefined;
      },
    },
    stop: () => undefined,
  });
  it("has a page where the job has one", async () => {
    await expect(calls.askPage("live")).rejects.toMatchObject({ code: "NO_PAGE" });
  });

  const request = { hello: { protocol: 1, build: "t" }, transaction: transactions.get("a"), durable: true };

  it("has all of it as a person, and its own part as a task, for the life that asks", async () => {
    await calls.transact({ ...request, owner: "worker:0" });
    await calls.transact({ ...request, owner: "worker:0", generation: 4 }, "worker:1");
    const { transaction, durable } = request;
    expect(asked).toEqual([
      { transaction, durable, rights: allRights, owner: "worker:0" },
      { transaction, durable, rights: rightsOfTask("worker:1"), owner: "worker:1", generation: 4 },
    ]);
  });

  it("watches what it may read", async () => {
    const tell = async () => undefined;
    const after = { attempt: 1, revision: 8 };
    await calls.watch({ hello: request.hello, from: "shared/", to: "shared0", after }, tell, "worker:1");
    await calls.watch({ hello: request.hello, from: "" }, tell);
    expect(watched).toEqual([
      [{ range: { from: "shared/", to: "shared0" }, after }, rightsOfTask("worker:1"), tell],
      [{ range: { from: "" } }, allRights, tell],
    ]);
  });

  it("is told of a task that the job has not", async () => {
    expect(await calls.transact({ ...request, owner: "nobody:7" })).toMatchObject({ code: "no-owner" });
  });
});

const home = mkdtempSync(path.join(tmpdir(), "tony-own-log-"));
afterAll(() => rmSync(home, { recursive: true }));

/** A log whose first ten bytes YARN has removed: the next ten were closed, `klmno` is in the file that is written to. */
function aLog(): string {
  const file = path.join(mkdtempSync(path.join(home, "log-")), "am.log");
  writeFileSync(closedLogName(file, 10), "0123456789");
  writeFileSync(file, "klmno");
  return file;
}

function read(file: string, offset: number, follow: boolean) {
  const got = { text: "", ended: false, failure: "", missing: 0, next: -1 };
  const stop = readOwnLog(
    new RotatingLog(file),
    { task: "am", stream: "stdout", offset, follow },
    {
      async send({ offset: at, data, end, skippedBytes }) {
        got.text += Buffer.from(data).toString();
        got.ended ||= end;
        got.missing += skippedBytes;
        got.next = at + data.length;
      },
      fail: (reason) => {
        got.failure = reason;
      },
    },
  );
  return { got, stop };
}

test.each([
  ["from its beginning, of what is there", 0, "0123456789klmno", 10],
  ["from a byte on", 12, "23456789klmno", 0],
  ["from so many bytes before its end on", -7, "89klmno", 0],
  ["from before its beginning on", -99, "0123456789klmno", 10],
  ["at its end", 25, "", 0],
])("the ApplicationMaster's log is read %s, and its reading ends", async (_, offset, text, missing) => {
  const { got } = read(aLog(), offset, false);
  await eventually("its end", () => got.ended);
  expect(got).toEqual({ text, ended: true, failure: "", missing, next: 25 });
});

test("it is followed until its reader goes", async () => {
  const file = aLog();
  const { got, stop } = read(file, -5, true);
  await eventually("what is there", () => got.text === "klmno");
  appendFileSync(file, "pqr");
  await eventually("what is written then", () => got.text === "klmnopqr");
  expect(got.ended).toBe(false);
  stop();
  rmSync(file);
  expect(got.failure).toBe("");
});

test("who reads one that cannot be read is told", async () => {
  const file = aLog();
  const log = new RotatingLog(file);
  rmSync(path.dirname(file), { recursive: true });
  const failures: string[] = [];
  const reader = { send: async () => {}, fail: (reason: string) => void failures.push(reason) };
  readOwnLog(log, { task: "am", stream: "stdout", offset: 12, follow: false }, reader);
  await eventually("a failure", () => failures.length > 0);
  expect(failures[0]).toContain("am.log cannot be read: ");
});

import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { readOwnLog } from "../../../am/clients/own-log.ts";
import { closedLogName } from "../../../src/job/closed-log.ts";
import { RotatingLog } from "../../../src/rotating-log.ts";
import { eventually } from "../../support/eventually.ts";

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

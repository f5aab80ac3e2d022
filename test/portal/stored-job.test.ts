import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { readStoredJob } from "../../portal/stored-job.ts";
import { MOST_HISTORY_BYTES } from "../../src/history/json-lines.ts";
import { encodeHistoryRecord } from "../../src/history/records.ts";
import { aJobStatus, allSucceeded } from "../client/job-status.ts";
import { HistoryFolder } from "./history-folder.ts";

const endedAtMs = Date.UTC(2026, 10, 26, 12);
const both = ["all", "ends"] as const;

let history: HistoryFolder;
beforeEach(() => {
  history = new HistoryFolder();
});
afterEach(() => history.remove());

const read = (folder: string, parts: (typeof both)[number]) => readStoredJob(history.fileSystem, folder, parts);
function fileIn(folder: string): string {
  const [name = ""] = readdirSync(folder);
  return path.join(folder, name);
}

describe("a job's history", () => {
  test("is of one that runs as long as it has its beginning alone", async () => {
    const folder = history.write({ number: 1 });
    const [header = ""] = readFileSync(fileIn(folder), "utf8").split("\n");
    writeFileSync(fileIn(folder), `${header}\n`);
    for (const parts of both)
      expect(await read(folder, parts)).toMatchObject({ user: "ada", events: [], status: { state: "running" } });
  });

  test("has an end as soon as all of its line is written", async () => {
    const folder = history.write({ number: 1, endedAtMs });
    const text = readFileSync(fileIn(folder), "utf8");
    writeFileSync(fileIn(folder), text.slice(0, -1));
    for (const parts of both) expect((await read(folder, parts)).status.state).toBe("running");
    writeFileSync(fileIn(folder), text);
    for (const parts of both) expect((await read(folder, parts)).status.state).toBe("succeeded");
  });

  test("ends as the last attempt says that told its end", async () => {
    const folder = history.write({ number: 1, endedAtMs });
    const outcome = { ...allSucceeded, result: "failed", endedAtMs: endedAtMs + 7 } as const;
    const status = aJobStatus({ applicationId: path.basename(folder), state: "failed", outcome });
    const end = { record: "end", attempt: 2, number: 1, atMs: endedAtMs + 7, outcome, status } as const;
    appendFileSync(fileIn(folder), encodeHistoryRecord(end));
    for (const parts of both)
      expect((await read(folder, parts)).status).toMatchObject({
        state: "failed",
        outcome: { endedAtMs: endedAtMs + 7 },
      });
  });

  test("cannot be read where it is larger than any history", async () => {
    const folder = history.write({ number: 1, endedAtMs });
    const piece = Buffer.alloc(2 ** 20);
    history.fileSystem.open = async (_file, { lengthBytes = 0 } = {}) =>
      Readable.from(Array.from({ length: Math.ceil(lengthBytes / piece.length) }, () => piece));
    await expect(read(folder, "all")).rejects.toMatchObject({
      code: "HISTORY_UNREADABLE",
      message: expect.stringContaining(`it has more than ${MOST_HISTORY_BYTES} bytes`),
    });
  });

  test("cannot be read where its file or its beginning is missing", async () => {
    const folder = history.write({ number: 1, endedAtMs });
    const [, ...others] = readFileSync(fileIn(folder), "utf8").split("\n");
    writeFileSync(fileIn(folder), others.join("\n"));
    for (const parts of both)
      await expect(read(folder, parts)).rejects.toMatchObject({
        code: "HISTORY_UNREADABLE",
        message: expect.stringContaining("its history has no first record"),
      });
    rmSync(fileIn(folder));
    await expect(read(folder, "all")).rejects.toThrow("it holds no history file");
  });
});

import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { JobPages } from "../../portal/job-pages.ts";
import { usualRoundings } from "../../src/advice/roundings.ts";
import { HistoryFolder } from "./history-folder.ts";

const endedAtMs = Date.UTC(2026, 10, 26, 12);

let history: HistoryFolder;
beforeEach(() => {
  history = new HistoryFolder();
});
afterEach(() => history.remove());

test("of jobs that are looked at four are kept for ten seconds, and beyond four the one that was read first goes", async () => {
  const folders = new Map<string, string>();
  for (let number = 1; number <= 5; number += 1)
    folders.set(`application_1_000${number}`, history.write({ number, endedAtMs }));
  let nowMs = 0;
  let read: string[] = [];
  const jobs = new JobPages({
    fileSystem: history.fileSystem,
    access: { maySee: () => true },
    index: {
      earlierRuns: () => [],
      job: () => undefined,
      folderOf: async (id) => {
        read.push(id.slice(-1));
        return folders.get(id);
      },
    },
    report: history.report,
    logs: { read: () => Promise.reject(new Error("none")) },
    running: { ask: () => Promise.reject(new Error("none")), pageOf: async () => undefined },
    roundings: usualRoundings,
    prices: {},
    nowMs: () => nowMs,
  });
  const looksAt = async (...numbers: readonly number[]) => {
    read = [];
    for (const number of numbers) await jobs.whole(`application_1_000${number}`, { user: "ada", groups: [] });
    return read.join(" ");
  };
  expect(await looksAt(1, 2, 3, 4, 1, 2, 3, 4)).toBe("1 2 3 4");
  nowMs = 9_999;
  expect(await looksAt(1)).toBe("");
  nowMs = 10_000;
  expect(await looksAt(1, 1)).toBe("1");
  nowMs = 10_001;
  expect(await looksAt(5, 1, 5)).toBe("5");
  expect(await looksAt(2)).toBe("2");
});

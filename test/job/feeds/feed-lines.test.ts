import { describe, expect, test } from "@jest/globals";
import { feedLines, unreadLines, unreadWords } from "../../../src/job/feeds/feed-lines.ts";
import type { FeedReaderStatus, FeedStatus } from "../../../src/job/status.ts";

const train: FeedStatus = {
  ...{ name: "train", epoch: 0, epochs: 1, splits: 40, used: 0 },
  ...{ leftOut: 0, failures: [], triedAgain: 0, readers: [] },
};
const reader = (index: number, rows: number, changes: Partial<FeedReaderStatus> = {}): FeedReaderStatus => ({
  ...{ task: `worker:${index}`, splits: 2, rows, sinceMs: 0, usedAtMs: 10_000, isDone: false },
  ...changes,
});
const shown = (changes: Partial<FeedStatus>) => feedLines({ feeds: [{ ...train, ...changes }], nowMs: 13_000 });
const failure = (split: number) => ({ split, path: "hdfs://nn/a.gz", start: 0, end: 20, reason: "it is damaged" });

describe("a feed that is read", () => {
  test("is as far as its splits of this epoch are used, and says what its readers make in a second", () => {
    expect(shown({ used: 9, readers: [reader(0, 30_000), reader(1, 26_000)] })).toEqual([
      "feed train: 22% (9 of 40 splits) · 5.6k rows/s",
      "  worker:1: 2 splits, 26000 rows · 2.6k rows/s · the last one 3 s ago",
      "  worker:0: 2 splits, 30000 rows · 3k rows/s · the last one 3 s ago",
    ]);
    expect(shown({ epoch: 1, epochs: 5 })[0]).toBe("feed train: nobody has read any of its 40 splits");
    expect(shown({ epoch: 1, epochs: 5, used: 20 })[0]).toBe("feed train: 50% of epoch 2 of 5 (20 of 40 splits)");
    const { epochs: _epochs, ...endless } = { ...train, epoch: 7, used: 10 };
    expect(feedLines({ feeds: [endless], nowMs: 0 })).toEqual(["feed train: 25% of epoch 8 (10 of 40 splits)"]);
  });

  test("that grows says how old what is not used yet may be", () => {
    expect(shown({ splits: 0, readers: [reader(0, 0)] })[0]).toBe("feed train: no file yet");
    const some = { used: 9, watermarkMs: 3_000, readers: [] };
    expect(shown(some)).toEqual(["feed train: 22% (9 of 40 splits) · all written up to 10 s ago is used"]);
    expect(shown({ ...some, epoch: 1 })).toEqual(["feed train: read to its end (40 splits)"]);
  });

  test("names the reader that is slow beside the others, of those that still read", () => {
    const readers = [reader(0, 10_000_000), reader(1, 10_000_000), reader(2, 6_000_000)];
    expect(shown({ used: 1, readers })[0]).toContain("2.6M rows/s · worker:2 is at 60% of the others' rate");
    const ended = [...readers.slice(0, 2), reader(2, 6_000_000, { isDone: true })];
    expect(shown({ used: 1, readers: ended })[0]).toBe("feed train: 2% (1 of 40 splits) · 2M rows/s");
    expect(shown({ used: 1, readers: ended })[1]).toBe("  worker:2: 2 splits, 6000000 rows · 600k rows/s · ended");
  });

  test("has no rates where no rows are counted, and shows the slowest readers alone", () => {
    const counting = shown({ used: 1, readers: [reader(0, 0), reader(1, 0, { splits: 0 })] });
    expect(counting).toEqual([
      "feed train: 2% (1 of 40 splits)",
      "  worker:0: 2 splits · the last one 3 s ago",
      "  worker:1: 0 splits · none is used yet",
    ]);
    const many = shown({
      used: 1,
      readers: Array.from({ length: 8 }, (_, index) => reader(index, 1_000 * (9 - index))),
    });
    expect(many.slice(1).map((line) => line.split(":", 2).join(":"))).toEqual([
      ...["  worker:7", "  worker:6", "  worker:5", "  worker:4", "  worker:3"],
      "  and 3 more tasks",
    ]);
  });

  test("says what was tried again, and what is left out and why", () => {
    expect(shown({ used: 9, triedAgain: 2, leftOut: 7, failures: [failure(3)] })).toEqual([
      "feed train: 22% (9 of 40 splits) · 2 splits tried again · 7 of 40 splits were left out",
      "  split 3 (hdfs://nn/a.gz, bytes 0 to 20): it is damaged",
      "  and 6 more splits",
    ]);
  });

  test("says that all is read, and nothing of its readers then", () => {
    const over = { epoch: 1, readers: [reader(0, 5)] };
    expect(shown(over)).toEqual(["feed train: read to its end (40 splits)"]);
    expect(shown({ ...over, epoch: 3, epochs: 3 })).toEqual(["feed train: read to its end, 3 times (40 splits)"]);
  });
});

describe("at a job's end", () => {
  const unread = (changes: Partial<FeedStatus>) => unreadWords({ feeds: [{ ...train, ...changes }] });

  test("nothing is said of a feed that was read, and of one without end that was left", () => {
    const { epochs: _epochs, ...endless } = { ...train, used: 3 };
    expect(unread({ epoch: 1 })).toEqual([]);
    expect(unreadWords({ feeds: [endless] })).toEqual([]);
    expect(unreadWords({})).toEqual([]);
  });

  test("what a program left unread is said, and that its results are not whole", () => {
    expect(unread({ used: 28, output: "hdfs://nn/out" })).toEqual([
      "feed train: 12 of 40 splits were not read, no _SUCCESS in hdfs://nn/out",
    ]);
    expect(unread({ used: 39, epoch: 1, epochs: 3 })).toEqual([
      "feed train: 1 of 40 splits of epoch 2 of 3 was not read",
    ]);
    expect(unread({})).toEqual(["feed train: 40 of 40 splits were not read"]);
  });

  test("what was left out is said, with which splits and why", () => {
    const feed = { ...train, epoch: 1, leftOut: 1, failures: [failure(3)] };
    expect(unreadLines({ feeds: [feed] })).toEqual([
      "feed train: 1 of 40 splits was left out",
      "  split 3 (hdfs://nn/a.gz, bytes 0 to 20): it is damaged",
    ]);
  });
});

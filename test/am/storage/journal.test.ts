import { mkdtemp, readdir, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { earlierJournal, JournalWriter } from "../../../am/storage/journal.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { encodeJournalEntry } from "../../../src/journal/entry.ts";
import { readJournal } from "../../../src/journal/reader.ts";
import { openLog } from "../../../src/log.ts";
import { eventually } from "../../support/eventually.ts";

/** Its files are there with all their content before they are closed. */
class SlowlyClosed extends LocalFileSystem {
  letGo: () => void = () => undefined;
  readonly #let = new Promise<void>((resolve) => {
    this.letGo = resolve;
  });

  override async create(...file: Parameters<LocalFileSystem["create"]>): Promise<void> {
    await super.create(...file);
    await this.#let;
  }
}

describe("the journal", () => {
  const fileSystem = new LocalFileSystem();
  let folder = "";

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tony-journal-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const writer = (attempt: number) => new JournalWriter({ fileSystem, folder, attempt });
  const fileOf = (attempt: number, sequence: number) => path.join(folder, String(attempt), String(sequence));

  test("the next attempt reads the newest snapshot", async () => {
    const first = writer(1);
    await first.write(1, JSON.stringify({ generation: 1 }));
    await first.write(2, JSON.stringify({ generation: 2 }));

    const { entry, unreadable } = await readJournal(fileSystem, folder);
    expect(entry).toEqual({ attempt: 1, sequence: 2, snapshot: { generation: 2 } });
    expect(unreadable).toEqual([]);
  });

  test("a later attempt's snapshot is newer than any of an earlier one", async () => {
    await writer(1).write(900, JSON.stringify("old"));
    await writer(2).write(1, JSON.stringify("new"));
    await writer(10).write(1, JSON.stringify("newest"));

    expect((await readJournal(fileSystem, folder)).entry?.snapshot).toBe("newest");
  });

  test("a file that was cut is passed over, and said to be", async () => {
    await writer(1).write(1, JSON.stringify("whole"));
    await writer(1).write(2, JSON.stringify("cut"));
    await truncate(fileOf(1, 2), 120);

    const { entry, unreadable } = await readJournal(fileSystem, folder);
    expect(entry?.snapshot).toBe("whole");
    expect(unreadable).toEqual([expect.stringContaining(fileOf(1, 2))]);
  });

  test("what a snapshot left out is read with it, from its own attempt, however old it is", async () => {
    await writer(1).write(
      1,
      JSON.stringify({ tasks: ["b"], parts: [1] }),
      JSON.stringify({ tasks: ["of the first attempt"] }),
    );
    const second = writer(2);
    await second.write(1, JSON.stringify({ tasks: ["b", "c"], parts: [1] }), JSON.stringify({ tasks: ["a"] }));
    for (const sequence of [2, 3, 4])
      await second.write(sequence, JSON.stringify({ tasks: ["c"], parts: [1, 4] }), "{}");

    expect((await readJournal(fileSystem, folder)).entry?.snapshot).toEqual({ tasks: ["a", "c"], parts: [1, 4] });
  });

  test("a snapshot is passed over that lacks a part of it", async () => {
    await writer(1).write(1, JSON.stringify({ tasks: ["a"] }));
    await writer(1).write(2, JSON.stringify({ tasks: [], parts: [2] }));

    const { entry, unreadable } = await readJournal(fileSystem, folder);
    expect(entry?.snapshot).toEqual({ tasks: ["a"] });
    expect(unreadable).toHaveLength(1);
  });

  test("a draft that was never finished is not looked at", async () => {
    await writer(1).write(1, JSON.stringify("whole"));
    await writeFile(path.join(folder, "1", ".2.tmp"), "half");

    expect(await readJournal(fileSystem, folder)).toMatchObject({ entry: { snapshot: "whole" }, unreadable: [] });
  });

  test("nothing is written after it has settled: what then removes the folder has removed it", async () => {
    const journal = writer(1);
    let written = 0;
    for (const sequence of [1, 2, 3, 4]) {
      void journal.write(sequence, JSON.stringify("x".repeat(100_000))).then(() => {
        written += 1;
      });
    }
    await journal.settled();

    expect(written).toBe(4);
    expect(await readdir(path.join(folder, "1"))).toHaveLength(2);
  });

  test("nor is it settled while a draft that was seen whole is still being closed", async () => {
    const drafts = new SlowlyClosed();
    const journal = new JournalWriter({ fileSystem: drafts, folder, attempt: 1 });
    await journal.write(1, JSON.stringify("whole"));
    let isSettled = false;
    const settled = journal.settled().then(() => {
      isSettled = true;
    });
    await fileSystem.list(folder);
    expect(isSettled).toBe(false);
    drafts.letGo();
    await settled;
  });

  test("an attempt that wrote nothing leaves nothing to read", async () => {
    expect(await readJournal(fileSystem, path.join(folder, "absent"))).toEqual({ unreadable: [] });
  });

  test("old snapshots are removed; the one before the newest stays for whoever reads it now", async () => {
    const journal = writer(1);
    for (let sequence = 1; sequence <= 5; sequence += 1) await journal.write(sequence, JSON.stringify(sequence));

    const left = await eventually("two files", async () => {
      const files = await readdir(path.join(folder, "1"));
      return files.length === 2 ? files : undefined;
    });
    expect(left.sort()).toEqual(["4", "5"]);
  });
});

test("a file system that is away is asked again: what it holds is not taken for nothing", async () => {
  jest.useFakeTimers();
  try {
    let asked = 0;
    const entry = encodeJournalEntry({ attempt: 1, sequence: 3 }, '{"generation":2}');
    const fileSystem = {
      list: (folder: string) => {
        asked += 1;
        if (asked < 3) return Promise.reject(new Error("connection refused"));
        return Promise.resolve(folder === "/journal" ? [{ path: "/journal/1" }] : [{ path: "/journal/1/3" }]);
      },
      open: () => Promise.resolve(Readable.from([entry])),
    };
    const reading = earlierJournal(fileSystem, "/journal", openLog("error"));
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await reading).toEqual({ journal: { generation: 2 } });
    expect(asked).toBeGreaterThan(3);
  } finally {
    jest.useRealTimers();
  }
});

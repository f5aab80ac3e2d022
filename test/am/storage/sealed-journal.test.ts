import { mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { readStoreFile } from "../../../am/core/store/store-file.ts";
import { SealedJournal } from "../../../am/storage/sealed-journal.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { eventually } from "../../support/eventually.ts";

const changes = (key: string, revision: number) => ({
  type: "changes" as const,
  changes: [
    { type: "put" as const, revision, key, entry: { key, value: "", created: 1, modified: 1, version: 1 } },
    { type: "delete" as const, revision, key },
  ],
});
const whole = {
  type: "whole" as const,
  revision: 2,
  entries: [
    { key: "a", value: "\u00ff", created: 1, modified: 2, version: 2, owner: { task: "worker:0", generation: 1 } },
  ],
  epochs: [{ attempt: 1, lastRevision: 1 }],
};

describe("the journal of the key-value store", () => {
  const fileSystem = new LocalFileSystem();
  let folder = "";
  beforeEach(async () => {
    folder = path.join(await mkdtemp(path.join(tmpdir(), "tony-store-")), "store");
  });
  afterEach(() => rm(path.dirname(folder), { recursive: true }));

  const journalOf = (attempt: number) => new SealedJournal({ fileSystem, folder, attempt, decode: readStoreFile });
  const write = (journal: Pick<SealedJournal<unknown>, "write">, sequence: number, file: object, isWhole = false) =>
    journal.write({ sequence, content: JSON.stringify(file), isWhole });

  test("is read by a later attempt in the order of its writing, whoever wrote it", async () => {
    for (const [attempt, keys] of [
      [1, 11],
      [2, 1],
    ] as const) {
      const journal = journalOf(attempt);
      await journal.read();
      for (let nth = 1; nth <= keys; nth += 1) await write(journal, nth, changes(`${attempt}/${nth}`, nth));
      await journal.settled();
    }
    const files = await journalOf(3).read();
    const keys = files.map(({ file }) => (file.type === "changes" ? file.changes[0]?.key : ""));
    expect(keys).toEqual([...Array.from({ length: 11 }, (_, nth) => `1/${nth + 1}`), "2/1"]);
    expect(files.map(({ attempt }) => attempt)).toEqual([...Array(11).fill(1), 2]);
  });

  test("is read in that order, too, where an attempt has made its folder again and again while it was taken away", async () => {
    for (const nth of [10, 2, 1]) {
      await write(journalOf(1), 1, changes(`${nth}`, nth));
      await rename(path.join(folder, "1"), path.join(folder, `1-sealed-2-${nth}`));
    }
    const files = await journalOf(2).read();
    expect(files.map(({ file }) => file.type === "changes" && file.changes[0]?.key)).toEqual(["1", "2", "10"]);
  });

  test("has its folder made once: what a later attempt has taken away is not made again", async () => {
    const made: string[] = [];
    class Watched extends LocalFileSystem {
      override async mkdirs(target: string, permission: number) {
        made.push(path.relative(folder, target));
        await super.mkdirs(target, permission);
      }
    }
    const journal = new SealedJournal({ fileSystem: new Watched(), folder, attempt: 1, decode: readStoreFile });
    for (const sequence of [1, 2, 3]) await write(journal, sequence, changes("a", sequence));
    expect(made).toEqual(["1"]);
  });

  test("of the first attempt nothing is read, and nothing is made before something is written", async () => {
    expect(await journalOf(1).read()).toEqual([]);
    await expect(readdir(folder)).rejects.toThrow("ENOENT");
  });

  test.each([
    ["that has written", true],
    ["that has not written yet", false],
  ])("an earlier attempt %s and was only paused writes nothing any more", async (_what, wrote) => {
    const paused = journalOf(1);
    if (wrote) await write(paused, 1, changes("a", 1));
    const files = await journalOf(2).read();
    expect(files).toHaveLength(wrote ? 1 : 0);
    await expect(write(paused, 2, changes("b", 2))).rejects.toThrow();
    expect(await journalOf(3).read()).toEqual(files);
  });

  test("is whole again with a file that has everything: those before it go, of earlier attempts, too", async () => {
    await write(journalOf(1), 1, changes("a", 1));
    const journal = journalOf(2);
    await journal.read();
    await write(journal, 1, changes("b", 2));
    await write(journal, 2, whole, true);
    await journal.settled();
    await eventually("the others' end", async () => (await readdir(path.join(folder, "2"))).join() === "2");
    expect(await readdir(folder)).toEqual(["1", "2"]);
    expect(await journalOf(3).read()).toEqual([{ attempt: 2, file: whole }]);
  });

  test("has what is before a whole file removed once", async () => {
    const removed: string[] = [];
    class Watched extends LocalFileSystem {
      override async delete(file: string, options = {}) {
        removed.push(path.relative(folder, file));
        return await super.delete(file, options);
      }
    }
    await write(journalOf(1), 1, changes("a", 1));
    const journal = new SealedJournal({ fileSystem: new Watched(), folder, attempt: 2, decode: readStoreFile });
    await journal.read();
    for (const sequence of [1, 2, 3]) await write(journal, sequence, whole, true);
    await journal.settled();
    await eventually("the last removal", () => removed.includes("2/2"));
    expect(removed.sort()).toEqual([expect.stringMatching(/^1-sealed-2-/), "2/1", "2/2"]);
  });

  test("that cannot be read is said to be, with the reason", async () => {
    const journal = journalOf(1);
    await write(journal, 1, changes("a", 1));
    await writeFile(path.join(folder, "1", "2"), "half");
    await expect(journalOf(2).read()).rejects.toThrow(/A journal file cannot be used/);
  });

  test("is not written once the job has ended", async () => {
    const journal = journalOf(1);
    await journal.settled();
    await expect(write(journal, 1, changes("a", 1))).rejects.toThrow("Nothing is written: the job has ended");
  });
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { type Found, foundShape, GrowingInput } from "../../../am/executors/growing-input.ts";
import { journalClosed } from "../../../am/storage/sealed-journal.ts";
import { TonyError } from "../../../src/errors.ts";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";
import type { FileSystem } from "../../../src/hadoop/hdfs/file-system.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { Listing } from "../../../src/job/feeds/listing.ts";
import { eventually } from "../../support/eventually.ts";
import { SteppedClock } from "../../support/stepped-clock.ts";

const home = mkdtempSync(path.join(tmpdir(), "tony-growing-"));
afterAll(() => rmSync(home, { recursive: true }));

/** Files of this machine, which may be open for writing, or be moved just when their blocks are looked at. */
function watchedFiles() {
  const local = new LocalFileSystem();
  const beingWritten = new Set<string>();
  const unreadable = new Map<string, Error>();
  const fileSystem: FileSystem = Object.assign(local, {
    blockAt: async (file: string) => {
      const error = unreadable.get(path.basename(file));
      if (error !== undefined) throw error;
      return { hosts: [], isBeingWritten: beingWritten.has(path.basename(file)) };
    },
  });
  return { fileSystem, beingWritten, unreadable };
}

/** Tells when a look has come to its end: the next one is waited for. */
class CountingClock extends SteppedClock {
  waits = 0;

  override after(delayMs: number, call: () => void): () => void {
    this.waits += 1;
    return super.after(delayMs, call);
  }
}

/** A feed whose folder grows, with what was found of it and written down. */
async function setUp() {
  const folder = mkdtempSync(path.join(home, "feed-"));
  const input = path.join(folder, "input");
  mkdirSync(input);
  const files = watchedFiles();
  const clock = new CountingClock();
  const happened: string[] = [];
  const warnings: string[] = [];
  const known: Found[] = [];
  const journal = { broken: undefined as Error | undefined };
  const spec = {
    name: "train",
    input: [input],
    cut: { format: "lines", splitBytes: 10 },
    epochs: 1,
    window: 1,
    leaseMs: 60_000,
    maxAttempts: 2,
    relistMs: 1_000,
    until: path.join(folder, "_DONE"),
  } as const;
  const namesOf = ({ files: found, isComplete }: Found) =>
    [...[...found].map((file) => path.basename(file.path)), ...(isComplete ? ["all"] : [])].join(" ");
  const growing = new GrowingInput({
    spec,
    fileSystems: { locate: (place) => ({ fileSystem: files.fileSystem, path: place }) },
    clock,
    log: { warn: (event) => void warnings.push(event) },
    journal: {
      write: async ({ content }) => {
        if (journal.broken !== undefined) throw journal.broken;
        happened.push(`written ${namesOf(foundShape(JSON.parse(content), ""))}`);
      },
    },
    known: () => Listing.of(known.flatMap((found) => [...found.files])),
    seen: [],
    found: (found) => {
      known.push(found);
      happened.push(`found ${namesOf(found)}`);
    },
  });
  const write = (name: string, text: string) => writeFileSync(path.join(input, name), text);
  let isOver = false;
  const over = growing.watch().then(() => {
    isOver = true;
  });
  const looked = (before: number) => eventually("the end of a look", () => isOver || clock.waits > before);
  await looked(0);
  const look = async (times = 1) => {
    for (let time = 0; time < times; time += 1) {
      const before = clock.waits;
      await clock.pass(1_000);
      await looked(before);
    }
  };
  return { files, write, look, happened, warnings, journal, over, done: () => writeFileSync(spec.until, "") };
}

describe("a folder that grows", () => {
  test("gives a file when it was the same at two looks, written down before anybody hears of it", async () => {
    const { write, look, happened } = await setUp();
    write("a", "one\n");
    await look();
    write("a", "one\ntwo\n");
    await look();
    expect(happened).toEqual([]);
    await look();
    expect(happened).toEqual(["written a", "found a"]);
    write("empty", "");
    write("b", "x\n");
    await look(3);
    expect(happened.slice(2)).toEqual(["written b", "found b"]);
  });

  test("gives no file that somebody has open, one that was moved away, or one that cannot be read yet", async () => {
    const { files, write, look, happened, warnings } = await setUp();
    for (const name of ["open", "moved", "away"]) write(name, "x\n");
    files.beingWritten.add("open");
    files.unreadable.set("moved", new FileSystemError("moved", { code: "FILE_NOT_FOUND" }));
    files.unreadable.set("away", new FileSystemError("away", { code: "UNREACHABLE" }));
    await look(4);
    expect([happened, warnings]).toEqual([[], ["feed-not-looked-up"]]);
    files.beingWritten.clear();
    files.unreadable.clear();
    await look(2);
    expect(happened.at(-1)).toBe("found away moved open");
  });

  test("that is said to be complete is so when all that lies there is in the feed", async () => {
    const { files, write, look, happened, over, done } = await setUp();
    write("a", "one\n");
    write("b", "one\n");
    files.beingWritten.add("b");
    done();
    await look(3);
    expect(happened.at(-1)).toBe("found a");
    files.beingWritten.clear();
    await look(2);
    await over;
    expect(happened.at(-1)).toBe("found b all");
  });

  test("is read on for as long as what it gave cannot be written down, which is written then as it was", async () => {
    const { write, look, happened, warnings, journal } = await setUp();
    write("a", "one\n");
    journal.broken = new Error("safe mode");
    await look(3);
    write("b", "one\n");
    await look(3);
    expect([happened, warnings]).toEqual([[], ["feed-not-looked-up"]]);
    journal.broken = undefined;
    await look(3);
    expect(happened).toEqual(["written a", "found a", "written b", "found b"]);
  });

  test("tells once of a file that has changed since it was given, and gives it no second time", async () => {
    const { write, look, happened, warnings } = await setUp();
    write("a", "one\n");
    await look(2);
    write("a", "one\ntwo\n");
    await look(4);
    expect([happened, warnings]).toEqual([["written a", "found a"], ["feed-file-changed"]]);
  });

  test("is looked at no more once nothing is written any more", async () => {
    const { write, look, over, happened, journal } = await setUp();
    write("a", "one\n");
    journal.broken = new TonyError("closed", { code: journalClosed });
    await look(3);
    await over;
    expect(happened).toEqual([]);
  });
});

import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import { encodeJournalEntry } from "../../src/journal/entry.ts";
import { type JournalFiles, partName, readJournal } from "../../src/journal/reader.ts";

const FOLDER = "/staging/journal";
const damaged = Buffer.from("half of an entry");
const entry = (attempt: number, sequence: number) => encodeJournalEntry({ attempt, sequence }, '{"jobs":1}');

/** A folder with these files, by attempt and name. */
function journalOf(attempts: Readonly<Record<string, Readonly<Record<string, Uint8Array>>>>): JournalFiles {
  return {
    list: async (folder) => {
      const [, attempt] = folder.split(`${FOLDER}/`);
      const names = Object.keys(attempt === undefined ? attempts : (attempts[attempt] ?? {}));
      return names.map((name) => ({ path: `${folder}/${name}` }));
    },
    open: async (file) => {
      const [attempt = "", name = ""] = file.slice(FOLDER.length + 1).split("/");
      return Readable.from([attempts[attempt]?.[name] ?? damaged]);
    },
  };
}

describe("the journal of earlier attempts", () => {
  test("is the latest attempt's highest sequence, by their numbers", async () => {
    const files = { "9": { "3": entry(9, 3) }, "10": { "9": entry(10, 9), "12": entry(10, 12) } };
    expect(await readJournal(journalOf(files), FOLDER)).toEqual({
      entry: { attempt: 10, sequence: 12, snapshot: { jobs: 1 } },
      unreadable: [],
    });
  });

  test("has what a snapshot left out of its lists before what it has, part after part", async () => {
    const of = (sequence: number, snapshot: object) =>
      encodeJournalEntry({ attempt: 1, sequence }, JSON.stringify(snapshot));
    const parts = { [partName(3)]: of(3, { tasks: ["a"], gangs: [1] }), [partName(5)]: of(5, { tasks: ["b"] }) };
    const files = { "1": { ...parts, "7": of(7, { parts: [3, 5], tasks: ["c"], gangs: [2], usage: 1 }) } };
    const { entry: found } = await readJournal(journalOf(files), FOLDER);
    expect(found?.snapshot).toEqual({ parts: [3, 5], tasks: ["a", "b", "c"], gangs: [1, 2], usage: 1 });
    const { [partName(5)]: _lost, ...others } = parts;
    const left = { "1": { ...others, "6": of(6, { tasks: ["d"] }), "7": of(7, { parts: [3, 5], tasks: ["c"] }) } };
    expect(await readJournal(journalOf(left), FOLDER)).toMatchObject({
      entry: { sequence: 6 },
      unreadable: [expect.stringContaining(`${FOLDER}/1/7`)],
    });
  });

  test("goes back over what cannot be used, to an earlier attempt's too, and says what that was", async () => {
    const files = { "1": { "7": entry(1, 7) }, "2": { "8": damaged, "9": damaged } };
    const { entry: found, unreadable } = await readJournal(journalOf(files), FOLDER);
    expect(found).toMatchObject({ attempt: 1, sequence: 7 });
    expect(unreadable.map((line) => line.split(":")[0])).toEqual([`${FOLDER}/2/9`, `${FOLDER}/2/8`]);
  });

  test("is nothing that is still being written, and nothing of anybody else's", async () => {
    // Keys that look like numbers would come first.
    const files = { "lost+found": { "5": entry(5, 5) }, "01": { "2.draft": damaged, "01": entry(1, 1) } };
    expect(await readJournal(journalOf(files), FOLDER)).toEqual({
      entry: { attempt: 1, sequence: 1, snapshot: { jobs: 1 } },
      unreadable: [],
    });
    expect(await readJournal(journalOf({}), FOLDER)).toEqual({ unreadable: [] });
  });
});

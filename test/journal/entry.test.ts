import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { decodeJournalEntry, encodeJournalEntry } from "../../src/journal/entry.ts";

describe("an entry of the journal", () => {
  test("any snapshot comes back as it was, and any damage to its file is noticed", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), fc.integer({ min: 1, max: 255 }), (snapshot, position, change) => {
        const bytes = encodeJournalEntry({ attempt: 1, sequence: 2, snapshot });
        const read = decodeJournalEntry(Buffer.from(bytes).toString());
        expect(read.snapshot).toEqual(JSON.parse(JSON.stringify(snapshot)));

        const damaged = Uint8Array.from(bytes);
        const at = bytes.indexOf(10) + 1 + (position % Math.max(1, bytes.length - bytes.indexOf(10) - 2));
        damaged[at] = (damaged[at] ?? 0) ^ change;
        expect(() => decodeJournalEntry(Buffer.from(damaged).toString())).toThrow(
          expect.objectContaining({ code: "JOURNAL_UNREADABLE" }),
        );
      }),
    );
  });

  test("a journal of an unknown version is not guessed at", () => {
    expect(() => decodeJournalEntry('{"journalVersion":99}\n{}\n')).toThrow(/version is 99/);
  });
});

import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { decodeJournalEntry, encodeJournalEntry } from "../../src/journal/entry.ts";

describe("an entry of the journal", () => {
  const entry = fc.record({ attempt: fc.nat(), sequence: fc.nat(), snapshot: fc.jsonValue() });
  const unreadable = expect.objectContaining({ code: "JOURNAL_UNREADABLE" });

  test("comes back as it was", () => {
    fc.assert(
      fc.property(entry, ({ attempt, sequence, snapshot }) => {
        const text = Buffer.from(encodeJournalEntry({ attempt, sequence }, JSON.stringify(snapshot))).toString();
        expect(decodeJournalEntry(text)).toEqual({ attempt, sequence, snapshot: JSON.parse(JSON.stringify(snapshot)) });
      }),
    );
  });

  test("with any byte altered, of its number, its snapshot or its checksum, is not read", () => {
    const { attempt, sequence, snapshot } = {
      attempt: 1,
      sequence: 20,
      snapshot: { generation: 3, tasks: ["a", "b"] },
    };
    const bytes = encodeJournalEntry({ attempt, sequence }, JSON.stringify(snapshot));
    for (const at of bytes.keys()) {
      for (let bit = 0; bit < 8; bit += 1) {
        const damaged = Uint8Array.from(bytes, (byte, index) => (index === at ? byte ^ (1 << bit) : byte));
        expect(() => decodeJournalEntry(Buffer.from(damaged).toString())).toThrow(unreadable);
      }
    }
  });

  test("cut anywhere, or with something behind it, is not read", () => {
    fc.assert(
      fc.property(entry, fc.nat(), (whole, position) => {
        const text = Buffer.from(encodeJournalEntry(whole, JSON.stringify(whole.snapshot))).toString();
        expect(() => decodeJournalEntry(text.slice(0, position % text.length))).toThrow(unreadable);
        expect(() => decodeJournalEntry(`${text}\n`)).toThrow(unreadable);
      }),
    );
  });

  test("a journal of an unknown version is not guessed at", () => {
    expect(() => decodeJournalEntry('{"journalVersion":99}\n{}\n')).toThrow(/version is 99/);
  });
});

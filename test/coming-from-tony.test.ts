import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { findKey } from "../src/job/keys.ts";
import { type TableRow, tonyTable } from "./documents/tony-table.ts";
import { tonyHistory, tonyKeys, tonyModes, tonyOptions, tonyVariables } from "./fixtures/tony/names.ts";

const rows = tonyTable(readFileSync("docs/reference/tony.md", "utf8"));
const named = new Set(rows.flatMap(({ names }) => names));

describe("the table of docs/reference/tony.md", () => {
  test.each([
    ["key", tonyKeys],
    ["option", tonyOptions],
    ["variable", tonyVariables],
    ["framework, mode and program", tonyModes],
    ["file, event and metric of the history", tonyHistory],
  ])("has each %s of TonY's", (_what, names) => {
    expect(names.filter((name) => !named.has(name))).toEqual([]);
  });

  test("says of each what becomes of it, and names a test", () => {
    expect(rows.filter(({ becomes, proofs }) => becomes === "" || proofs.length === 0)).toEqual([]);
  });

  test("says of no key that it works, or does not, against the table of keys", () => {
    const said = rows.flatMap(({ names, becomes }) =>
      names.flatMap((name): string[] => {
        const support = tonyKeys.includes(name) ? rowOf(name)?.support : undefined;
        if (support === undefined) return [];
        const isSaid = becomes.startsWith("no effect") === (support === "ignored-with-warning");
        return isSaid ? [] : [name];
      }),
    );
    expect(said).toEqual([]);
  });

  test("leaves nothing for later", () => {
    expect(rows.filter(({ becomes }) => /\b(yet|later)\b/.test(becomes))).toEqual([]);
  });

  test("names tests that there are", () => {
    expect(rows.flatMap(missingProofs)).toEqual([]);
  });
});

/** The row of the table of keys, as a job with a role worker and a group G has the key. */
const rowOf = (key: string) =>
  findKey(key.replace("<role>", "worker").replace("<G>", "G").replace("<res>", "gpus"))?.definition;

function missingProofs({ names, proofs }: TableRow): string[] {
  return proofs
    .filter(({ file, title }) => {
      const path = `test/${file}.test.ts`;
      return !existsSync(path) || !readFileSync(path, "utf8").includes(title);
    })
    .map(({ file, title }) => `${names[0]}: ${file}: ${title}`);
}

import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { findKey } from "../src/job/keys.ts";
import { tonyHistory, tonyKeys, tonyModes, tonyOptions, tonyVariables } from "./fixtures/tony/names.ts";

/** A row of the table of what becomes of all that TonY has. */
interface TableRow {
  /** Of keys, options, variables, … as its first cell has them in code. */
  readonly names: readonly string[];
  readonly becomes: string;
  /** Tests that show it: a file below `test`, without its ending, and the title of a test in it. */
  readonly proofs: readonly { readonly file: string; readonly title: string }[];
}

/** The rows of all tables whose last column is `shown by`. */
function tonyTable(markdown: string): TableRow[] {
  const rows: TableRow[] = [];
  let isIn = false;
  for (const line of markdown.split("\n")) {
    const cells = line.startsWith("|") ? line.slice(1, -1).split(/(?<!\\)\|/) : [];
    const [first = "", becomes = "", proof = ""] = cells.map((cell) => cell.trim());
    if (proof === "shown by") isIn = true;
    else if (cells.length === 0) isIn = false;
    else if (isIn && !/^-+$/.test(first)) rows.push({ names: codeIn(first), becomes, proofs: proofsIn(proof) });
  }
  return rows;
}

const codeIn = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

const proofsIn = (cell: string) =>
  [...cell.matchAll(/`([^`]+)`: \*([^*]+)\*/g)].map(([, file = "", title = ""]) => ({ file, title }));

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

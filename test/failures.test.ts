import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "@jest/globals";

const under = (folder: string) =>
  readdirSync(folder, { encoding: "utf8", recursive: true }).map((path) => join(folder, path));
const page = under("docs").find((path) => basename(path) === "failures.md") ?? "";
const files = under("test").filter((path) => path.endsWith(".test.ts"));

interface Promised {
  readonly row: string;
  /** The files that its last column names, each with the tests that it names of that one. */
  readonly proofs: readonly { readonly file: string; readonly titles: readonly string[] }[];
  readonly isSimulated: boolean;
}

/** Rows of the tables whose last column names tests. */
function promises(text: string): Promised[] {
  return text.split("\n").flatMap((line) => {
    const cells = line.split(/(?<!\\)\|/).slice(1, -1);
    const [row = ""] = cells;
    const last = cells.at(-1) ?? "";
    if (cells.length < 3 || /^\s*(?:-+|what fails|fault|the active one ends)\s*$/.test(row)) return [];
    const proofs = [...last.matchAll(/`([^`]+\.test\.ts)`((?:,? ?(?:and )?"[^"]+")*)/g)].map(
      ([, file = "", named = ""]) => ({
        file,
        titles: [...named.matchAll(/"([^"]+)"/g)].map(([, title = ""]) => title),
      }),
    );
    return [{ row: row.trim(), proofs, isSimulated: /\bsimulation\b/.test(last) }];
  });
}

/** The titles that a test file gives, as they stand in its source. */
const sourcesOf = (file: string) =>
  files
    .filter((path) => `/${path}`.endsWith(`/${file}`))
    .map((path) => readFileSync(path, "utf8").replaceAll("\\", "").replace(/\s+/g, " "));

test("each promise of failures.md names tests that exist", () => {
  const all = promises(readFileSync(page, "utf8"));
  expect(all.length).toBeGreaterThan(80);
  const missing = all.flatMap(({ row, proofs, isSimulated }) => {
    if (proofs.length === 0) return isSimulated ? [] : [`${row}: no test is named`];
    return proofs.flatMap(({ file, titles }) => {
      const sources = sourcesOf(file);
      if (sources.length === 0) return [`${row}: there is no ${file}`];
      return titles
        .filter((title) => !sources.some((source) => title.split("…").every((part) => source.includes(part.trim()))))
        .map((title) => `${row}: ${file} has no test "${title}"`);
    });
  });
  expect(missing).toEqual([]);
});

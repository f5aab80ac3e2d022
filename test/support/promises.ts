import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

const under = (folder: string) =>
  readdirSync(folder, { encoding: "utf8", recursive: true }).map((path) => join(folder, path));
const files = under("test").filter((path) => path.endsWith(".test.ts"));

/** The text of a document, wherever in docs it is. */
export function page(name: string): string {
  return readFileSync(under("docs").find((path) => basename(path) === name) ?? name, "utf8");
}

export interface Promised {
  readonly row: string;
  /** The files that its last column names, each with the titles of its tests that are named with it. */
  readonly proofs: readonly { readonly file: string; readonly titles: readonly string[] }[];
  readonly isSimulated: boolean;
}

/** The rows of the tables whose last column names tests. */
export function promises(text: string): Promised[] {
  return text.split("\n").flatMap((line) => {
    const cells = line.split(/(?<!\\)\|/).slice(1, -1);
    const [row = ""] = cells;
    const last = cells.at(-1) ?? "";
    if (cells.length < 3 || /^\s*(?:-+|what fails|fault|the active one ends|attack|who)\s*$/.test(row)) return [];
    const proofs = [...last.matchAll(/`([^`]+\.test\.ts)`((?:,? ?(?:and )?"[^"]+")*)/g)].map(
      ([, file = "", named = ""]) => ({
        file,
        titles: [...named.matchAll(/"([^"]+)"/g)].map(([, title = ""]) => title),
      }),
    );
    return [{ row: row.trim(), proofs, isSimulated: /\bsimulation\b/.test(last) }];
  });
}

/** The proofs that do not exist: missing files, and missing titles in files. */
export function missingProofs(all: readonly Promised[]): string[] {
  return all.flatMap(({ row, proofs }) =>
    proofs.flatMap(({ file, titles }) => {
      const sources = sourcesOf(file);
      if (sources.length === 0) return [`${row}: there is no ${file}`];
      return titles
        .filter((title) => !sources.some((source) => title.split("…").every((part) => source.includes(part.trim()))))
        .map((title) => `${row}: ${file} has no test "${title}"`);
    }),
  );
}

/** The text of the test files in which titles are looked for. */
const sourcesOf = (file: string) =>
  files
    .filter((path) => `/${path}`.endsWith(`/${file}`))
    .map((path) => readFileSync(path, "utf8").replaceAll("\\", "").replace(/\s+/g, " "));

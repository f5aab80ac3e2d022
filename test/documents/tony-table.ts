/** A row of the table of what becomes of all that TonY has. */
export interface TableRow {
  /** Of keys, options, variables, … as its first cell has them in code. */
  readonly names: readonly string[];
  readonly becomes: string;
  /** Tests that show it: a file below `test`, without its ending, and the title of a test in it. */
  readonly proofs: readonly { readonly file: string; readonly title: string }[];
}

/** The rows of all tables whose last column is `shown by`. */
export function tonyTable(markdown: string): TableRow[] {
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

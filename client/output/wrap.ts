import { stripVTControlCharacters } from "node:util";

/** What the second and further rows of a line begin with, beyond the line's own indentation. */
const hanging = 2;
/** A terminal narrower than this is not worth indenting for. */
const narrowest = 20;

/** A line as rows of at most so many columns, broken between words; a word that is longer is broken too. A coloured line loses its colour then. */
export function wrap(line: string, columns: number): string[] {
  const text = stripVTControlCharacters(line);
  if (text.length <= columns) return [line];
  const indent = columns < narrowest ? 0 : Math.min(text.search(/\S|$/) + hanging, columns - narrowest);
  const rows: string[] = [];
  let rest = text;
  while (rest.length > columns) {
    const before = rows.length === 0 ? text.search(/\S|$/) : indent;
    const space = rest.lastIndexOf(" ", columns);
    const end = space > before ? space : columns;
    rows.push(rest.slice(0, end).trimEnd());
    rest = `${" ".repeat(indent)}${rest.slice(end).trimStart()}`;
  }
  return rest.trim() === "" ? rows : [...rows, rest];
}

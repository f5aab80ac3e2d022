import { stripVTControlCharacters } from "node:util";

/** The additional indentation of a line's second and further rows. */
const hanging = 2;
/** On a terminal narrower than this, rows are not indented. */
const narrowest = 20;

/**
 * A line as rows of at most this many columns, broken between words. A word that is too long is broken too, or stays `whole`, so
 * that an address can be copied; colours are kept.
 */
export function wrap(line: string, columns: number, longWords: "broken" | "whole" = "broken"): string[] {
  if (widthOf(line) <= columns) return [line];
  const own = stripVTControlCharacters(line).search(/\S|$/);
  const indent = columns < narrowest ? 0 : Math.min(own + hanging, columns - narrowest);
  const rows: string[] = [];
  let rest = line;
  while (widthOf(rest) > columns) {
    const end = breakAt(rest, columns, rows.length === 0 ? own : indent, longWords);
    if (end === -1) break;
    rows.push(rest.slice(0, end).trimEnd());
    rest = `${" ".repeat(indent)}${rest.slice(end).trimStart()}`;
  }
  return rest.trim() === "" ? rows : [...rows, rest];
}

/** How many columns the text takes. */
export function widthOf(line: string): number {
  return stripVTControlCharacters(line).length;
}

/** Where a row that begins with so many blanks ends; -1 when nowhere. */
function breakAt(text: string, columns: number, blanks: number, longWords: "broken" | "whole"): number {
  const full = offsetOf(text, columns);
  const space = text.lastIndexOf(" ", full);
  if (space > offsetOf(text, blanks)) return space;
  return longWords === "broken" ? full : text.indexOf(" ", full);
}

/** The index after so many columns of a text that may contain colours and is at least that long. */
function offsetOf(text: string, columns: number): number {
  let at = 0;
  for (let seen = 0; seen < columns; ) {
    const codeEnd = text[at] === "\u001b" ? text.indexOf("m", at) : -1;
    const isColour = codeEnd !== -1 && widthOf(text.slice(at, codeEnd + 1)) === 0;
    at = isColour ? codeEnd + 1 : at + 1;
    if (!isColour) seen += 1;
  }
  return at;
}

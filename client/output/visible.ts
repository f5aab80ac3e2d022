import { shownByte } from "../../src/file-names.ts";

/**
 * Text of others as a terminal may have it: what would move its cursor, change its state or the direction of writing (C0, C1 and
 * bidirectional controls) is shown as `\x1b` or `\u202e`, a byte of a name that is not UTF-8 as `\xe9`. Tabs and
 * ends of lines stay.
 */
export function visible(text: string): string {
  return text.replace(/(?![\t\n])[\p{Cc}\p{Bidi_Control}\udc80-\udcff]/gu, escaped);
}

/** The same for what is one line, or a part of one. */
export function visibleLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\udc80-\udcff]/gu, escaped);
}

/** JSON, in whose strings the same characters are escaped. */
export function visibleJson(value: object, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(
    /(?!\n)[\p{Cc}\p{Bidi_Control}]/gu,
    (control) => `\\u${hexadecimal(control, 4)}`,
  );
}

function escaped(control: string): string {
  if (control >= "\udc80" && control <= "\udcff") return shownByte(control);
  return control <= "\u00ff" ? `\\x${hexadecimal(control, 2)}` : `\\u${hexadecimal(control, 4)}`;
}

function hexadecimal(control: string, digits: number): string {
  return control.charCodeAt(0).toString(16).padStart(digits, "0");
}

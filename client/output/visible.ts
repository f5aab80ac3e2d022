import { shownByte } from "../../src/file-names.ts";

/**
 * Others' text in a form that is safe on a terminal: characters that would move its cursor or change its state or the direction
 * of writing (C0, C1 and bidirectional controls) are shown as `\x1b` or `\u202e`, a byte of a name that is not UTF-8 as `\xe9`.
 * Tabs and line ends stay.
 */
export function visible(text: string): string {
  return text.replace(/(?![\t\n])[\p{Cc}\p{Bidi_Control}\udc80-\udcff]/gu, escaped);
}

/** The same for a single line, or a part of one. */
export function visibleLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\udc80-\udcff]/gu, escaped);
}

/** JSON with the same characters escaped in its strings. */
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

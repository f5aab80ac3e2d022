import type { Entry } from "./transaction.ts";

/** The value as people and programs get it in JSON. */
export function shownEntry({ key, value, created, modified, version, owner }: Entry) {
  return { key, ...shownValue(value), created, modified, version, ...(owner === undefined ? {} : { owner }) };
}

/** Is the same as bytes and as text, as most values are. */
const PLAIN = /^[ -~]*$/;

/** What is no text is base64. */
function shownValue(value: string): { readonly value: string } | { readonly valueBase64: string } {
  if (PLAIN.test(value)) return { value };
  const bytes = Buffer.from(value, "latin1");
  const text = bytes.toString("utf8");
  return Buffer.from(text).equals(bytes) ? { value: text } : { valueBase64: bytes.toString("base64") };
}

/** Of text, or of base64. */
export function storedValue(given: { readonly value: string } | { readonly valueBase64: string }): string {
  if ("value" in given && PLAIN.test(given.value)) return given.value;
  const bytes = "value" in given ? Buffer.from(given.value) : Buffer.from(given.valueBase64, "base64");
  return bytes.toString("latin1");
}

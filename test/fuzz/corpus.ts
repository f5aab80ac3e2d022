import { elfHeader } from "../support/elf-header.ts";

/** Inputs that were once not refused as they should be, by the name of their reader. */
export const corpus: Readonly<Record<string, readonly Uint8Array[]>> = {
  "client.json": ["", "{", "null", '{"applicationId":"a"}'].map((text) => Buffer.from(text)),
  "ELF headers": [elfWithEntriesOf(2)],
};

/** Its table of segments is shorter than one number. */
function elfWithEntriesOf(bytes: number): Buffer {
  const header = elfHeader("x64");
  header.writeUInt16LE(bytes, 54);
  return header;
}

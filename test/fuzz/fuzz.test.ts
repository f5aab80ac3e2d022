import { expect, test } from "@jest/globals";
import { elfHeader } from "../support/elf-header.ts";
import { decoders } from "./decoders.ts";
import { fuzz, problemOf } from "./fuzz.ts";

/** Inputs that were once not refused as they should be, by the name of their reader. */
const corpus: Readonly<Record<string, readonly Uint8Array[]>> = {
  "client.json": ["", "{", "null", '{"applicationId":"a"}'].map((text) => Buffer.from(text)),
  "ELF headers": [elfWithEntriesOf(2)],
};

/** Its table of segments is shorter than one number. */
function elfWithEntriesOf(bytes: number): Buffer {
  const header = elfHeader("x64");
  header.writeUInt16LE(bytes, 54);
  return header;
}

/** `npm run fuzz` gives more. */
const inputs = { usually: 300, ofSlow: 20 };

test.each(decoders.map((decoder) => [decoder.name, decoder] as const))(
  "whatever comes from outside, an error of ours refuses it, or it is read: %s",
  async (name, decoder) => {
    for (const seed of decoder.seeds) expect(await problemOf(decoder, seed)).toBeUndefined();
    for (const input of corpus[name] ?? []) expect(await problemOf(decoder, input)).toBeUndefined();
    expect(await fuzz(decoder, decoder.isSlow === true ? inputs.ofSlow : inputs.usually, 1)).toEqual([]);
  },
);

test("a reader that stumbles over an input is found", async () => {
  const careless = {
    name: "careless",
    seeds: [Buffer.from("{}")],
    decode: (bytes: Uint8Array) => JSON.parse(String(bytes)),
  };
  const [first] = await fuzz(careless, 100, 1);
  expect(first?.problem).toMatch(/SyntaxError/);
});

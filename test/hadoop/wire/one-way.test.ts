import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";

const wire = new URL("../../../src/hadoop/wire/", import.meta.url);
const generated = new URL("generated/yarn.one-way.js", wire);
const methods = readFileSync(new URL("methods.ts", wire), "utf8");
const { hadoop }: { hadoop: Record<string, Record<string, Record<string, unknown>>> } = await import(generated.href);

test("what programs are bundled with encodes the request of each method and decodes its answer", () => {
  const pairs = [...methods.matchAll(/wireMethod\(\s*(\w+)\.(\w+),\s*\1\.(\w+)/g)];
  expect(pairs.length).toBeGreaterThan(15);
  for (const [, space = "", request = "", answer = ""] of pairs) {
    expect([request, hadoop[space]?.[request]?.encode]).toEqual([request, expect.any(Function)]);
    expect([answer, hadoop[space]?.[answer]?.decode]).toEqual([answer, expect.any(Function)]);
  }
});

test("it has whatever its own code calls", () => {
  const code = readFileSync(generated, "utf8");
  const calls = [...code.matchAll(/\bhadoop\.(yarn|common)\.(\w+)\.(encode|decode)\(/g)];
  expect(calls.length).toBeGreaterThan(100);
  for (const [call, space = "", name = "", way = ""] of calls)
    expect([call, hadoop[space]?.[name]?.[way]]).toEqual([call, expect.any(Function)]);
});

test("it has nothing that decodes what only goes out, nor encodes what only comes in", () => {
  expect(hadoop.yarn?.RegisterApplicationMasterRequestProto?.decode).toBeUndefined();
  expect(hadoop.yarn?.RegisterApplicationMasterResponseProto?.encode).toBeUndefined();
});

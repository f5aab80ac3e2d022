import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { keys } from "../../src/job/keys.ts";
import { keysPage } from "../../src/job/keys-page.ts";

describe("docs/reference/keys.md", () => {
  test("is what the table says: run `npm run docs` when this fails", () => {
    expect(readFileSync("docs/reference/keys.md", "utf8")).toBe(keysPage());
  });

  test("names every key", () => {
    const page = keysPage();
    expect(Object.keys(keys).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});

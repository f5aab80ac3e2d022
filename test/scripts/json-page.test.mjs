import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { jsonPage } from "../../scripts/json-page.mjs";

describe("docs/reference/json.md", () => {
  const page = jsonPage(".");

  test("is what the interfaces say that outputs are checked against: run `npm run docs` when this fails", () => {
    expect(readFileSync("docs/reference/json.md", "utf8")).toBe(page);
  });

  test("explains every field that is declared", () => {
    const declared = readFileSync("client/printed-json.ts", "utf8").matchAll(/^ {2}readonly (\w+\??):/gm);
    expect([...declared].filter(([, field]) => !page.includes(`| \`${field}\` |`))).toEqual([]);
    expect(page).toContain("| `memoryBytes?` | `number` |");
    expect(page).toContain("resourceSeconds: Record<string, number>; }`");
  });

  test("names the words of every choice", () => {
    expect(page).toContain('| JobState | `"starting" \\| "gathering" \\|');
    expect(page).toContain('| ReadableStream | `"stdout" \\| "stderr" \\| "executor"` |');
  });
});

import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { families, reasonsPage } from "../../../src/job/reasons/reasons-page.ts";

test("docs/reference/reasons.md is what the tables say: run `npm run docs` when this fails", () => {
  expect(readFileSync("docs/reference/reasons.md", "utf8")).toBe(reasonsPage());
});

test("no code means two things", () => {
  const codes = families.flatMap(([, , table]) => Object.keys(table));
  expect(codes).toHaveLength(new Set(codes).size);
});

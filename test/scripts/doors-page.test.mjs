import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { doorsPage } from "../../scripts/doors-page.mjs";

test("docs/reference/doors.md is what the code says: run `npm run docs` when this fails", () => {
  expect(readFileSync("docs/reference/doors.md", "utf8")).toBe(doorsPage());
});

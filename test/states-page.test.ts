import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { filesOf, machines, statesPage } from "../scripts/states-page.ts";

const root = join(import.meta.dirname, "..");
const sources = ["am", "executor"].flatMap((program) =>
  readdirSync(join(root, program), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(root, program, name), "utf8")),
);

const tables = machines.map(([{ name, phases, rows }, file]) => ({ name, phases, rows, file }));

describe("docs/states.md", () => {
  test("is what the tables say: run `npm run docs` when this fails", () => {
    expect(readFileSync("docs/states.md", "utf8")).toBe(statesPage());
  });

  test.each(tables)("has a row for each event of a $name that is used, and of no other", ({ rows, file }) => {
    const others = sources.filter((text) => text !== readFileSync(join(root, file), "utf8"));
    const unused = rows.filter(({ on }) => !others.some((text) => text.includes(`"${on}"`)));
    expect(unused).toEqual([]);
  });

  test.each(tables)("leads to the one function of each move of a $name", ({ rows, file }) => {
    const found = rows.map((row) => ({ ...row, files: filesOf(row, file) }));
    expect(found.filter(({ files }) => files.length !== 1)).toEqual([]);
  });

  test.each(tables)("leads to every phase of a $name from its first", ({ phases, rows }) => {
    const [first, ...others] = Object.keys(phases);
    const reached = new Set(first === undefined ? [] : [first]);
    for (const _ of others) {
      for (const { from, to } of rows) {
        if (to !== "ignored" && from.some((one) => reached.has(one))) {
          reached.add(to);
        }
      }
    }
    expect([...reached].sort()).toEqual(Object.keys(phases).sort());
  });
});

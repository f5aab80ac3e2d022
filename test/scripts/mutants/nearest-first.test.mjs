import { afterEach, expect, test } from "@jest/globals";
import NearestFirst from "../../support/nearest-first.mjs";

afterEach(() => {
  delete process.env.TONY_CHANGED_FILE;
});

test("the tests of the changed file's folder come first, and what takes long last", () => {
  process.env.TONY_CHANGED_FILE = "am/core/failures/evidence.ts";
  const files = [
    "am/core/scale",
    "am/core/gang/hold",
    "am/core/failures/verdict",
    "am/core/wake-up",
    "am/storage/journal",
  ];
  const sorted = new NearestFirst({ globalConfig: { rootDir: "/copy" } }).sort(
    files.map((file) => ({ path: `/copy/test/${file}.test.ts` })),
  );
  expect(sorted.map(({ path }) => path.slice("/copy/test/".length, -".test.ts".length))).toEqual([
    "am/core/failures/verdict",
    "am/core/gang/hold",
    "am/core/wake-up",
    "am/storage/journal",
    "am/core/scale",
  ]);
});

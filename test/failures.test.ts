import { expect, test } from "@jest/globals";
import { missingProofs, page, promises } from "./support/promises.ts";

test("each promise of failures.md names tests that exist", () => {
  const all = promises(page("failures.md"));
  expect(all.length).toBeGreaterThan(80);
  const unproved = all.filter(({ proofs, isSimulated }) => proofs.length === 0 && !isSimulated);
  expect(unproved.map(({ row }) => row)).toEqual([]);
  expect(missingProofs(all)).toEqual([]);
});

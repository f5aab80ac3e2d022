import { expect, test } from "@jest/globals";
import { missingProofs, page, promises } from "./support/promises.ts";

const section = /^## By who attacks\n(.*?)^## /ms.exec(page("security.md"))?.[1] ?? "";

test("each attacker's row of security.md names the tests that show what he cannot do", () => {
  const all = promises(section);
  expect(all.map(({ row }) => /^\*\*(.*?)\*\*/.exec(row)?.[1])).toEqual([
    "a stranger on the network",
    "a stranger on a node",
    "a viewer",
    "a modifier",
    "a task of the job",
    "a finished container",
    "a compromised node",
    "the owner of a shared cache",
  ]);
  expect(all.filter(({ proofs }) => proofs.every(({ titles }) => titles.length === 0))).toEqual([]);
  expect(missingProofs(all)).toEqual([]);
});

test("each test that security.md names is there", () => {
  expect(missingProofs(promises(page("security.md")))).toEqual([]);
});

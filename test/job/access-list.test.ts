import { expect, it } from "@jest/globals";
import { holdersOf, parseAccessList } from "../../src/job/access-list.ts";

const nobody = { everybody: false, users: [], groups: [] };

it.each([
  ["*", { ...nobody, everybody: true }],
  [" * ", { ...nobody, everybody: true }],
  ["ada,bob ml,ops", { ...nobody, users: ["ada", "bob"], groups: ["ml", "ops"] }],
  ["ada", { ...nobody, users: ["ada"] }],
  [" ml", { ...nobody, groups: ["ml"] }],
  ["ada, bob", { ...nobody, users: ["ada"], groups: ["bob"] }],
  ["", nobody],
  [undefined, nobody],
])("reads %p as YARN does", (text, list) => {
  expect(parseAccessList(text)).toEqual(list);
});

it.each([
  [{}, undefined],
  [{ viewAcl: "ada ml" }, "ada ml"],
  [{ modifyAcl: "bob" }, "bob"],
  [{ viewAcl: "ada ml", modifyAcl: "bob,ada ops" }, "ada,bob ml,ops"],
  [{ viewAcl: " ml", modifyAcl: " ops" }, " ml,ops"],
  [{ viewAcl: "ada", modifyAcl: "bob" }, "ada,bob"],
  [{ viewAcl: "ada", modifyAcl: "*" }, "*"],
  [{ viewAcl: "ada", runAcl: "eve" }, "ada,eve"],
  [{ modifyAcl: "ada", runAcl: "*" }, "*"],
])("lets those see a job who may end it or run something in it: %p", (lists, viewers) => {
  expect(holdersOf("view", lists)).toBe(viewers);
});

it("lets who may run something in a job end it, and nobody run something who may only end it", () => {
  const lists = { viewAcl: "carol", modifyAcl: "frank ops", runAcl: "ada" };
  expect(holdersOf("modify", lists)).toBe("frank,ada ops");
  expect(holdersOf("run", lists)).toBe("ada");
  expect(holdersOf("run", { modifyAcl: "*" })).toBeUndefined();
});

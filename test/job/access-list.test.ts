import { expect, it } from "@jest/globals";
import { parseAccessList, viewersOf } from "../../src/job/access-list.ts";

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
])("lets those see a job who may end it: %p", (lists, viewers) => {
  expect(viewersOf(lists)).toBe(viewers);
});

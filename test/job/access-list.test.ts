import { expect, it } from "@jest/globals";
import { parseAccessList } from "../../src/job/access-list.ts";

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

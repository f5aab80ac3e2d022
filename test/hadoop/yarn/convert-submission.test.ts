import { expect, test } from "@jest/globals";
import { filterToWire } from "../../../src/hadoop/yarn/convert-submission.ts";

test("tags are looked for as YARN's own clients have them: in lower case, each once", () => {
  expect(filterToWire({ tags: ["Team-A", "team-a", "NIGHTLY"] }).applicationTags).toEqual(["team-a", "nightly"]);
  expect(filterToWire({}).applicationTags).toEqual([]);
});

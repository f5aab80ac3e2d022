import { expect, test } from "@jest/globals";
import { spaceLines } from "../../../client/output/search-lines.ts";
import { searchOf } from "../../job/search/support.ts";

test("the space of a search has a line for each parameter", () => {
  expect(spaceLines(searchOf({ lr: "float 0 1", optimizer: "choice adam sgd" }))).toEqual([
    "  lr          float 0 1",
    "  optimizer   choice adam sgd",
  ]);
});

import { userInfo } from "node:os";
import { expect, test } from "@jest/globals";
import { groupsOf } from "../src/groups.ts";

test("a user's groups are those that this machine knows; nobody's are none", async () => {
  expect(await groupsOf(userInfo().username)).not.toEqual([]);
  expect(await groupsOf("--no-such-user")).toEqual([]);
});

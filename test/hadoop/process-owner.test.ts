import { userInfo } from "node:os";
import { expect, test } from "@jest/globals";
import { ownerHome } from "../../src/hadoop/process-owner.ts";

test("the owner's home is HOME, but for one that is no absolute path", () => {
  expect(ownerHome(() => "/somewhere")).toBe("/somewhere");
  expect(ownerHome(() => "relative")).toBe(userInfo().homedir);
});

test("of an owner without any it is /", () => {
  const unknown = () => {
    throw new Error("ENOENT");
  };
  expect(ownerHome(unknown)).toBe("/");
});

import { expect, test } from "@jest/globals";
import { Access, refusalOf } from "../../portal/access.ts";

let asked = 0;
let nowMs = 0;
const groups: Readonly<Record<string, readonly string[]>> = { bob: ["ml"], root: ["ops"] };
const groupsOf = async (user: string) => {
  asked += 1;
  return groups[user] ?? [];
};
const access = (admins = "") => new Access({ admins, groupsOf, nowMs: () => nowMs });

async function seenBy(user: string, viewers?: string, admins = ""): Promise<boolean> {
  const one = access(admins);
  return one.maySee(await one.viewer(user), { user: "ada", ...(viewers === undefined ? {} : { viewers }) });
}

test("a job is seen by its owner and by whom it names, by user or group", async () => {
  expect(await seenBy("ada")).toBe(true);
  expect(await seenBy("bob")).toBe(false);
  expect(await seenBy("bob", "carol,bob")).toBe(true);
  expect(await seenBy("bob", "carol ml")).toBe(true);
  expect(await seenBy("carol", " ml")).toBe(false);
  expect(await seenBy("carol", "*")).toBe(true);
});

test("administrators see all jobs, but not everybody where Hadoop's default makes everybody one", async () => {
  expect(await seenBy("root", undefined, "hdfs ops")).toBe(true);
  expect(await seenBy("hdfs", undefined, "hdfs ops")).toBe(true);
  expect(await seenBy("bob", undefined, "hdfs ops")).toBe(false);
  expect(await seenBy("bob", undefined, "*")).toBe(false);
});

test("the portal's own user sees all", () => {
  expect(access().maySee({ user: undefined, groups: [] }, { user: "ada" })).toBe(true);
});

test("groups are asked for again after five minutes", async () => {
  asked = 0;
  const one = access();
  await one.viewer("bob");
  await one.viewer("bob");
  expect(asked).toBe(1);
  nowMs += 5 * 60_000;
  await one.viewer("bob");
  expect(asked).toBe(2);
});

test("of a thousand who ask the groups are remembered, and of more those of the latest", async () => {
  const one = access();
  const ask = async (...numbers: number[]) => {
    asked = 0;
    for (const number of numbers) await one.viewer(`user${number}`);
    return asked;
  };
  const thousand = Array.from({ length: 1_000 }, (_, number) => number);
  expect(await ask(...thousand)).toBe(1_000);
  expect(await ask(...thousand)).toBe(0);
  expect(await ask(1_000, 999, 1)).toBe(1);
  expect(await ask(0)).toBe(1);
});

test("whose groups were asked for again is one of the latest", async () => {
  const one = access();
  for (let number = 0; number < 1_000; number += 1) await one.viewer(`user${number}`);
  nowMs += 5 * 60_000;
  for (const user of ["user0", "another"]) await one.viewer(user);
  asked = 0;
  await one.viewer("user0");
  expect(asked).toBe(0);
});

test("a refusal says which right is missing, and who gives it", () => {
  expect(refusalOf({ user: "bob", groups: [] }, "application_1_0001", { user: "ada" })).toBe(
    "bob may not see application_1_0001: it is ada's. A job's key tony.application.acl.view lets others see it; users named in yarn.admin.acl see all jobs",
  );
});

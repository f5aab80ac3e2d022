import { expect, test } from "@jest/globals";
import { Turns } from "../../src/api/turns.ts";

function setUp(most: number) {
  const turns = new Turns(most);
  const begun: string[] = [];
  return { begun, take: (name: string) => turns.take(() => begun.push(name)) };
}

test("so many begin at a time, in their order, each when one has ended", () => {
  const { begun, take } = setUp(2);
  const [first, second] = ["1", "2", "3", "4"].map(take);
  expect(begun).toEqual(["1", "2"]);
  second?.end();
  expect(begun).toEqual(["1", "2", "3"]);
  first?.end();
  expect(begun).toEqual(["1", "2", "3", "4"]);
});

test("one that ends twice makes room once, and one that ended before its turn never begins", () => {
  const { begun, take } = setUp(1);
  const [first, second] = ["1", "2", "3", "4"].map(take);
  second?.end();
  first?.end();
  first?.end();
  expect(begun).toEqual(["1", "3"]);
});

test("one that begins before its turn takes a place, once", () => {
  const { begun, take } = setUp(1);
  const [first, second] = ["1", "2", "3"].map(take);
  second?.begin();
  second?.begin();
  first?.end();
  expect(begun).toEqual(["1", "2"]);
  second?.end();
  expect(begun).toEqual(["1", "2", "3"]);
});

import { expect, test } from "@jest/globals";
import { CounterStarts } from "../../portal/counter-starts.ts";

const sample = (user: string, value: number) => ({ labels: { user }, value });

test("a counter that is new is told as 0 for a minute and a half, so that Prometheus sees it grow", () => {
  const starts = new CounterStarts();
  const told = (nowMs: number, ...samples: ReturnType<typeof sample>[]) =>
    starts
      .scrape(nowMs)("jobs", samples)
      .map(({ labels: { user }, value }) => `${user} ${value}`);
  expect(told(0, sample("ada", 7))).toEqual(["ada 7"]);
  expect(told(60_000, sample("ada", 8), sample("bob", 1))).toEqual(["ada 8", "bob 0"]);
  expect(told(149_999, sample("ada", 8), sample("bob", 2))).toEqual(["ada 8", "bob 0"]);
  expect(told(150_000, sample("ada", 8), sample("bob", 2))).toEqual(["ada 8", "bob 2"]);
});

test("counters of one name and others are told apart by their labels", () => {
  const starts = new CounterStarts();
  starts.scrape(0)("jobs", [sample("ada", 1)]);
  const begun = starts.scrape(1_000);
  expect([begun("jobs", [sample("ada", 2)]), begun("seconds", [sample("ada", 2)])]).toEqual([
    [sample("ada", 2)],
    [sample("ada", 0)],
  ]);
});

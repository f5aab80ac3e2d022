import { expect, test } from "@jest/globals";
import type { TaskSeries } from "../../src/history/series/table.ts";
import { roleSeries } from "../../src/page/role-series.ts";

function one(name: string, first: number, values: (number | null)[]): TaskSeries {
  return { name, rule: "mean", first, values };
}

test("a role's series has of memory the most, of steps the least and of all else the mean of its tasks, where they were heard", () => {
  const worker0 = [one("memory", 0, [1, 5, null, 7]), one("step", 0, [1, 2, 3]), one("metric:loss", 1, [4, 2])];
  const worker1 = [one("memory", 1, [9, null]), one("step", 1, [1, 9, 9]), one("metric:loss", 0, [8, 8])];
  expect(roleSeries([worker0, worker1, []])).toEqual([
    one("memory", 0, [1, 9, null, 7]),
    one("step", 0, [1, 1, 3, 9]),
    one("metric:loss", 0, [8, 6, 2]),
  ]);
  expect(roleSeries([])).toEqual([]);
});

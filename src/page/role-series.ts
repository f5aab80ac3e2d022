import type { TaskSeries } from "../history/series/table.ts";

/** How the tasks' values at one time are combined: memory by the maximum, steps by the minimum, all else by the mean. */
const ruleOf: Readonly<Record<string, (values: readonly number[]) => number>> = {
  memory: (values) => values.reduce((a, b) => Math.max(a, b)),
  step: (values) => values.reduce((a, b) => Math.min(a, b)),
};
const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;

/** What a role's tasks used and reported, combined into one series per quantity. */
export function roleSeries(ofTasks: readonly (readonly TaskSeries[])[]): TaskSeries[] {
  const byName = new Map<string, TaskSeries[]>();
  for (const one of ofTasks.flat()) {
    const same = byName.get(one.name);
    if (same === undefined) byName.set(one.name, [one]);
    else same.push(one);
  }
  return [...byName.values()].flatMap((same) => joined(same));
}

function joined(same: readonly TaskSeries[]): TaskSeries[] {
  const [one] = same;
  if (one === undefined) return [];
  const { name, rule } = one;
  const first = same.reduce((least, { first }) => Math.min(least, first), one.first);
  const end = same.reduce((most, { first, values }) => Math.max(most, first + values.length), 0);
  const values = Array.from({ length: end - first }, (_none, index) => {
    const heard = same.flatMap((series) => series.values[first + index - series.first] ?? []);
    return heard.length === 0 ? null : (ruleOf[name] ?? mean)(heard);
  });
  return [{ name, rule, first, values }];
}

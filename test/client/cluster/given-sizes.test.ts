import { expect, test } from "@jest/globals";
import { gangProblems } from "../../../client/cluster/gang-checks.ts";
import { withGivenSizes } from "../../../client/cluster/given-sizes.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { wholeJob } from "../../../src/job/amounts.ts";
import { formatProblem } from "../../../src/job/problem.ts";
import type { Resource } from "../../../src/job/spec.ts";
import { aJobSpec } from "../../support/job-spec.ts";

const amount = (memoryMiB: number, vcores = 1, gpus?: number): Resource => ({
  memoryMiB,
  vcores,
  others: gpus === undefined ? {} : { "yarn.io/gpu": gpus },
});
const maximum = amount(8192, 8, 4);

function given(values: Record<string, string>, asked: Resource): Resource | undefined {
  const [role] = aJobSpec().roles;
  const spec = { ...aJobSpec(), roles: role === undefined ? [] : [{ ...role, resource: asked }] };
  return withGivenSizes(spec, new Configuration().withValues(values), maximum).roles[0]?.resource;
}

test("CapacityScheduler rounds up to multiples of the least container, and to no more than the largest", () => {
  const least = { "yarn.scheduler.minimum-allocation-mb": "64" };
  expect(given(least, amount(3590))).toEqual(amount(3648));
  expect(given(least, amount(3648))).toEqual(amount(3648));
  expect(given({ "yarn.scheduler.minimum-allocation-mb": "1024" }, amount(1500))).toEqual(amount(2048));
  expect(given({ "yarn.scheduler.minimum-allocation-mb": "3000" }, amount(6500))).toEqual(amount(8192));
  // Nothing so large is given: what was written is what is refused.
  expect(given(least, amount(8200))).toEqual(amount(8200));
});

test("the keys of resource types come before the older ones, and count for cores and GPUs as well", () => {
  const values = {
    "yarn.resource-types.memory-mb.minimum-allocation": "512",
    "yarn.scheduler.minimum-allocation-mb": "64",
    "yarn.scheduler.minimum-allocation-vcores": "2",
    "yarn.resource-types.yarn.io/gpu.minimum-allocation": "2",
  };
  expect(given(values, amount(600, 3, 1))).toEqual(amount(1024, 4, 2));
  // A type that is not asked for stays so.
  expect(given(values, amount(600, 3, 0))).toEqual(amount(1024, 4, 0));
});

test("FairScheduler rounds up to its increment, and gives the least container at the least", () => {
  const values = {
    "yarn.resourcemanager.scheduler.class":
      "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler",
    "yarn.scheduler.minimum-allocation-mb": "1000",
    "yarn.resource-types.memory-mb.increment-allocation": "256",
  };
  expect(given(values, amount(100))).toEqual(amount(1024));
  expect(given(values, amount(1100))).toEqual(amount(1280));
});

test("nothing is rounded by what this machine's configuration does not say, or does not say plainly", () => {
  expect(given({}, amount(3590))).toEqual(amount(3590));
  expect(given({ "yarn.scheduler.minimum-allocation-mb": "-1" }, amount(3590))).toEqual(amount(3590));
});

test("the AM's container is rounded, too, and the job's sum and the count of what fits are of the rounded ones", () => {
  const [role] = aJobSpec().roles;
  if (role === undefined) throw new Error("a job has a role");
  const spec = {
    ...aJobSpec(),
    am: { ...aJobSpec().am, resource: amount(1000) },
    roles: [{ ...role, instances: 4, resource: amount(3590) }],
  };
  const configuration = new Configuration().withValues({ "yarn.scheduler.minimum-allocation-mb": "64" });
  const sized = withGivenSizes(spec, configuration, maximum);
  expect(sized.am).toEqual({ ...spec.am, resource: amount(1024) });
  expect(wholeJob(sized).resource.memoryMiB).toBe(1024 + 4 * 3648);
  const node = (host: string, memoryMiB: number) => ({
    ...{ nodeId: `${host}:1`, host, rack: "/r", labels: [] },
    total: amount(memoryMiB, 8),
  });
  const nodes = [node("a", 7200), node("b", 7200)];
  const said = gangProblems(sized, { nodes, nodesAreAway: false }).map(formatProblem);
  expect(said).toHaveLength(1);
  expect(said[0]).toMatch(/ask for 3\.56 GiB, 1 core each, .* room for 2 when empty/);
});

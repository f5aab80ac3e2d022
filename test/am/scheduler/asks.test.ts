import { describe, expect, test } from "@jest/globals";
import type { Ask } from "../../../am/core/state/effects.ts";
import { Asks, requestRows, UntoldAsks } from "../../../am/scheduler/yarn/asks.ts";
import { HadoopError } from "../../../src/hadoop/errors.ts";
import type { ResourceRequest, SchedulingRequest } from "../../../src/hadoop/yarn/allocation.ts";
import type { PlacementConstraint } from "../../../src/hadoop/yarn/placement-constraint.ts";
import type { Container } from "../../../src/hadoop/yarn/records.ts";

const resource = { memoryMiB: 1024, vcores: 1, others: {} };
const anAsk = (changes: Partial<Ask> = {}): Ask => ({
  ...{ role: "worker", priority: 1, resource, count: 4, hosts: [], racks: [] },
  ...changes,
});
const worker = anAsk({ count: 2 });
const apart: PlacementConstraint = { kind: "tags", scope: "node", min: 0, max: 0, tags: [{ tag: "w" }] };

function asksTo({ fails }: { readonly fails?: string } = {}) {
  const rows: ResourceRequest[] = [];
  const constrained: SchedulingRequest[] = [];
  const asks = new Asks({
    ask(told) {
      if (fails !== undefined) throw new HadoopError(fails, { code: "UNKNOWN_RESOURCE_TYPE" });
      rows.push(...told);
    },
    askConstrained: (told) => constrained.push(...told),
  });
  return { asks, rows, constrained };
}

function aContainer(priority: number): Container {
  return {
    id: "container_1_0001_01_000002",
    nodeId: "node-1:4000",
    nodeHttpAddress: "node-1:8042",
    resource: resource,
    priority,
    allocationRequestId: -1,
    version: 0,
    executionType: "GUARANTEED",
  };
}

test("containers are awaited from when they were asked for until all have come", () => {
  const { asks } = asksTo();
  asks.add(worker);
  expect(asks.areAwaited).toBe(false);
  asks.tell();
  asks.allocated([aContainer(1)]);
  expect(asks.areAwaited).toBe(true);
  asks.allocated([aContainer(1)]);
  expect(asks.areAwaited).toBe(false);
});

test("what is too large is not awaited", () => {
  const { asks } = asksTo();
  asks.add(worker);
  asks.tell();
  expect(asks.tooLarge()).toEqual(worker);
  expect(asks.areAwaited).toBe(false);
});

test("what cannot even be written down is refused by the role's name, and the others are told", () => {
  const { asks, constrained } = asksTo({ fails: "no/such is not a resource type of this cluster" });
  asks.add(worker);
  asks.add({ ...worker, role: "ps", priority: 2, constrained: { tags: ["w"], constraint: apart } });
  const message = "worker: no/such is not a resource type of this cluster";
  expect(asks.tell()).toEqual([{ type: "ask-refused", message }]);
  expect(constrained).toMatchObject([{ priority: 2 }]);
});

test("no label is named where none is asked for", () => {
  const { asks, constrained } = asksTo();
  asks.add({ ...worker, constrained: { tags: ["w"], constraint: apart } });
  asks.tell();
  expect(constrained[0]).not.toHaveProperty("nodeLabel");
});

test("containers of constrained places are asked for as such, with their label; what YARN finds no place for is told by its role", () => {
  const { asks, rows, constrained } = asksTo();
  asks.add({ ...worker, count: 3, nodeLabel: "gpu", constrained: { tags: ["w"], constraint: apart } });
  asks.tell();
  expect(rows).toEqual([]);
  expect(constrained).toEqual([
    { priority: 1, capability: resource, count: 3, tags: ["w"], constraint: apart, nodeLabel: "gpu" },
  ]);
  const rejected = [1, 9].map((priority) => ({ priority, count: 2, reason: "could not place" as const }));
  expect(asks.unplaced(rejected)).toEqual([{ type: "ask-unplaced", role: "worker", count: 2 }]);
  expect(asks.areAwaited).toBe(false);
});

describe("what the ResourceManager is to be told", () => {
  const chief = anAsk({ role: "chief", count: 1 });
  const workers = (count: number) => anAsk({ priority: 2, count });
  const worker = workers(8);
  const scorer = anAsk({ role: "scorer", priority: 3, count: 1 });

  function holding(...asks: readonly Ask[]): UntoldAsks {
    const untold = new UntoldAsks();
    for (const one of asks) untold.add(one);
    return untold;
  }
  const rolesOf = (untold: UntoldAsks) => untold.take().map(({ ask: { role } }) => role);

  test("all that is asked goes together, of each role the newest, with the one that it replaces", () => {
    const untold = holding(chief, worker, workers(7));
    expect(untold.take()).toMatchObject([{ ask: chief, before: undefined }, { ask: { role: "worker", count: 7 } }]);
    expect(untold.answered()).toBe(false);
    untold.add({ ...chief, count: 0 });
    expect(untold.take()).toEqual([{ ask: { ...chief, count: 0 }, before: chief }]);
  });

  describe("when something is refused", () => {
    test("it is not taken by an answer to what was told without it", () => {
      const untold = holding(chief, worker);
      untold.take();
      untold.refused();
      untold.answered();
      expect(untold.take()).toEqual([{ ask: chief, before: undefined }]);
    });

    test("what was taken of its role before counts for nothing: it is told as if it were the first", () => {
      const untold = holding(worker);
      untold.take();
      untold.answered();
      untold.add(workers(9));
      untold.take();
      untold.refused();
      untold.add(workers(7));
      expect(untold.take()).toEqual([{ ask: workers(7), before: undefined }]);
    });

    test("it is the only one that was told", () => {
      const untold = holding(worker);
      untold.take();
      expect(untold.refused()).toEqual(worker);
      expect(untold.take()).toEqual([]);
    });

    test("several are told again one by one; those that are not refused stay", () => {
      const untold = holding(chief, worker, scorer);
      untold.take();
      expect(untold.refused()).toBeUndefined();
      expect(rolesOf(untold)).toEqual(["chief"]);
      expect(untold.answered()).toBe(true);
      expect(rolesOf(untold)).toEqual(["worker"]);
      expect(untold.refused()).toEqual(worker);
      expect(rolesOf(untold)).toEqual(["scorer"]);
      expect(untold.answered()).toBe(false);
      untold.add(chief);
      untold.add(scorer);
      expect(rolesOf(untold)).toEqual(["chief", "scorer"]);
    });

    test("what was asked anew meanwhile counts, not what was refused with others", () => {
      const untold = holding(chief, worker);
      untold.take();
      untold.add(workers(3));
      untold.refused();
      expect(untold.take()).toMatchObject([{ ask: { count: 3 } }]);
      untold.answered();
      expect(rolesOf(untold)).toEqual(["chief"]);
    });

    test("after a resync it may be what was taken long ago, but nothing that was withdrawn", () => {
      const untold = holding(chief, worker, { ...scorer, count: 0 });
      untold.take();
      untold.answered();
      expect(untold.refused()).toBeUndefined();
      expect(rolesOf(untold)).toEqual(["chief"]);
      untold.answered();
      expect(rolesOf(untold)).toEqual(["worker"]);
      expect(untold.answered()).toBe(false);
    });
  });
});

const counts = (rows: ReturnType<typeof requestRows>) =>
  rows.map(({ resourceName, count }) => `${resourceName} ${count}`);

describe("an ask as rows for the ResourceManager", () => {
  test("where any place will do, one row says it all", () => {
    expect(requestRows(anAsk(), undefined)).toEqual([
      { priority: 1, resourceName: "*", capability: resource, count: 4 },
    ]);
  });

  test("hosts and racks come with the row for anywhere, which carries the whole count", () => {
    const ask = anAsk({
      hosts: [
        { host: "a", count: 2 },
        { host: "b", count: 2 },
      ],
      racks: [{ rack: "/r", count: 4 }],
    });
    expect(counts(requestRows(ask, undefined))).toEqual(["a 2", "b 2", "/r 4", "* 4"]);
  });

  test("only the row for anywhere names the label", () => {
    const ask = anAsk({ nodeLabel: "gpu", hosts: [{ host: "a", count: 4 }], racks: [{ rack: "/r", count: 4 }] });
    expect(requestRows(ask, undefined).map(({ nodeLabelExpression }) => nodeLabelExpression)).toEqual([
      undefined,
      undefined,
      "gpu",
    ]);
  });

  test("hosts that alone will do: racks and the row for anywhere serve only to name them", () => {
    const named = { hosts: [{ host: "a", count: 4 }], racks: [{ rack: "/r", count: 4 }] };
    const strict = requestRows(anAsk({ ...named, relaxLocality: false }), undefined);
    expect(strict.map(({ relaxLocality = true }) => relaxLocality)).toEqual([true, false, false]);
    const [, , anywhere] = requestRows(anAsk(), anAsk({ ...named, relaxLocality: false }));
    expect(anywhere).toEqual({ priority: 1, resourceName: "*", capability: resource, count: 4 });
  });

  test("a host that is not named any more goes to 0", () => {
    const before = anAsk({ hosts: [{ host: "a", count: 4 }], racks: [{ rack: "/r", count: 4 }] });
    expect(counts(requestRows(anAsk({ count: 3 }), before))).toEqual(["a 0", "/r 0", "* 3"]);
  });

  test("an ask that is withdrawn goes to 0 everywhere", () => {
    const before = anAsk({ hosts: [{ host: "a", count: 4 }], racks: [{ rack: "/r", count: 4 }] });
    expect(counts(requestRows(anAsk({ count: 0 }), before))).toEqual(["a 0", "/r 0", "* 0"]);
  });

  test("another amount of resources is another row: the old one is withdrawn", () => {
    const larger = { ...resource, memoryMiB: 2048 };
    const rows = requestRows(anAsk({ resource: larger }), anAsk());
    expect(rows.map(({ capability, count }) => [capability.memoryMiB, count])).toEqual([
      [1024, 0],
      [2048, 4],
    ]);
  });
});

import { expect, test } from "@jest/globals";
import type { Ask } from "../../../am/core/state/effects.ts";
import { Asks } from "../../../am/scheduler/yarn/asks.ts";
import { HadoopError } from "../../../src/hadoop/errors.ts";
import type { ResourceRequest, SchedulingRequest } from "../../../src/hadoop/yarn/allocation.ts";
import type { PlacementConstraint } from "../../../src/hadoop/yarn/placement-constraint.ts";
import type { Container } from "../../../src/hadoop/yarn/records.ts";

const small = { memoryMiB: 512, vcores: 1, others: {} };
const worker: Ask = { role: "worker", priority: 1, resource: small, count: 2, hosts: [], racks: [] };
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
    resource: small,
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
    { priority: 1, capability: small, count: 3, tags: ["w"], constraint: apart, nodeLabel: "gpu" },
  ]);
  const rejected = [1, 9].map((priority) => ({ priority, count: 2, reason: "could not place" as const }));
  expect(asks.unplaced(rejected)).toEqual([{ type: "ask-unplaced", role: "worker", count: 2 }]);
  expect(asks.areAwaited).toBe(false);
});

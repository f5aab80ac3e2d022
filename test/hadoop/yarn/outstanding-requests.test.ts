import { beforeEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { ResourceRequest } from "../../../src/hadoop/yarn/allocation.ts";
import { OutstandingRequests } from "../../../src/hadoop/yarn/outstanding-requests.ts";
import type { Container } from "../../../src/hadoop/yarn/records.ts";

const capability = { memoryMiB: 512, vcores: 1, others: {} };
const nothing = { asks: [], constrained: [], releases: [], blacklistAdditions: [], blacklistRemovals: [] };

function row(changes: Partial<ResourceRequest> = {}): ResourceRequest {
  return { priority: 1, resourceName: "*", capability, count: 2, allocationRequestId: 7, ...changes };
}

function container(changes: Partial<Container> = {}): Container {
  return {
    id: "container_1_0001_01_000002",
    nodeId: "host-a:8041",
    nodeHttpAddress: "",
    resource: { ...capability, memoryMiB: 1024 },
    priority: 1,
    allocationRequestId: 7,
    version: 0,
    executionType: "GUARANTEED",
    ...changes,
  };
}

const countsOf = (table: OutstandingRequests) =>
  Object.fromEntries(table.rows.map(({ resourceName, count }) => [resourceName, count]));

let table: OutstandingRequests;
beforeEach(() => {
  table = new OutstandingRequests();
});

describe("rows of one place", () => {
  test.each([
    ["requests", { allocationRequestId: 8 }],
    ["kinds of execution", { executionType: "OPPORTUNISTIC" }],
    ["amounts of other types", { capability: { ...capability, others: { "yarn.io/gpu": 1 } } }],
    ["cores", { capability: { ...capability, vcores: 2 } }],
  ] as const)("for different %s are kept apart", (_what, changes) => {
    table.ask([row(), row(changes)]);
    expect(table.rows).toHaveLength(2);
  });

  test.each([
    ["no request's number and −1", { allocationRequestId: -1 }, {}],
    ["no kind of execution and the usual one", { executionType: "GUARANTEED" }, {}],
    ["no GPU and none", { capability: { ...capability, others: { "yarn.io/gpu": 0 } } }, {}],
  ] as const)("with %s are the same", (_what, one, other) => {
    const { allocationRequestId: _, ...plain } = row();
    table.ask([
      { ...plain, ...one },
      { ...plain, ...other },
    ]);
    expect(table.rows).toHaveLength(1);
  });

  test("are lowered by a container of their own priority and request alone", () => {
    table.ask([row(), row({ priority: 2 }), row({ allocationRequestId: 8 })]);
    table.granted(container());
    expect(table.rows.map(({ count }) => count)).toEqual([1, 2, 2]);
  });
});

test("what was refused is not told even if it was changed meanwhile, and no row or request of it remains", () => {
  const constrained = { priority: 3, capability, count: 2, tags: ["w"] };
  table.ask([row()]);
  table.askConstrained([constrained]);
  const changes = table.take();
  table.ask([row({ count: 5 })]);
  table.askConstrained([{ ...constrained, count: 5 }]);
  table.refused(changes);
  expect(table.take()).toEqual(nothing);
  table.resync();
  expect(table.take()).toEqual(nothing);
});

test("a host that was freed is told once", () => {
  table.blacklist({ remove: ["a"] });
  expect(table.take().blacklistRemovals).toEqual(["a"]);
  expect(table.take()).toEqual(nothing);
});

describe("containers of constrained places", () => {
  const request = { priority: 3, capability, count: 2, tags: ["w"] };
  const asked = () => {
    const table = new OutstandingRequests();
    table.askConstrained([request]);
    expect(table.take().constrained).toEqual([request]);
    return table;
  };

  test("are told once, and again after a resync with the count that is left", () => {
    const table = asked();
    expect(table.take()).toEqual(nothing);
    table.granted(container({ priority: 3, allocationRequestId: -1 }));
    table.resync();
    expect(table.take().constrained).toEqual([{ ...request, count: 1 }]);
  });

  test("are not told again once they were refused, withdrawn or rejected", () => {
    const refused = asked();
    refused.refused({ ...nothing, constrained: [request] });
    const withdrawn = asked();
    withdrawn.askConstrained([{ ...request, count: 0 }]);
    expect(withdrawn.take().constrained).toEqual([{ ...request, count: 0 }]);
    const rejected = asked();
    rejected.rejected({ priority: 3, count: 2, reason: "could not place" });
    for (const table of [refused, withdrawn, rejected]) {
      table.resync();
      expect(table.take()).toEqual(nothing);
    }
  });
});

describe("what a heartbeat tells", () => {
  test("each change once", () => {
    table.ask([row()]);
    table.release(["container_1_0001_01_000009"]);
    table.blacklist({ add: ["bad"] });
    expect(table.take()).toEqual({
      ...nothing,
      asks: [row()],
      releases: ["container_1_0001_01_000009"],
      blacklistAdditions: ["bad"],
    });
    expect(table.take()).toEqual(nothing);
  });

  test("the last word about a row: counts are whole numbers, not differences", () => {
    table.ask([row({ count: 5 }), row({ count: 3, priority: 2 })]);
    table.ask([row({ count: 1 })]);
    expect(table.take().asks).toEqual([row({ count: 1 }), row({ count: 3, priority: 2 })]);
  });

  test("a withdrawn row is told as 0, and then forgotten", () => {
    table.ask([row()]);
    table.take();
    table.ask([row({ count: 0 })]);
    expect(table.take().asks).toEqual([row({ count: 0 })]);
    table.resync();
    expect(table.take()).toEqual(nothing);
  });

  test("rows are the same when their resources are, however written", () => {
    table.ask([row({ capability: { ...capability, others: { a: 1, b: 2, none: 0 } } })]);
    table.ask([row({ capability: { ...capability, others: { b: 2, a: 1 } }, count: 9 })]);
    expect(table.rows.map(({ count }) => count)).toEqual([9]);
  });

  test("a host that is good again was not bad", () => {
    table.blacklist({ add: ["a", "b"] });
    table.blacklist({ remove: ["a"] });
    expect(table.take()).toMatchObject({ blacklistAdditions: ["b"], blacklistRemovals: ["a"] });
  });

  test("a host that is both refused and freed before one heartbeat is told by its last word alone", () => {
    table.blacklist({ remove: ["a", "c"] });
    table.blacklist({ add: ["a", "b"] });
    table.blacklist({ add: ["d"], remove: ["b", "d"] });
    expect(table.take()).toMatchObject({ blacklistAdditions: ["a"], blacklistRemovals: ["c", "b", "d"] });
    table.resync();
    expect(table.take()).toMatchObject({ blacklistAdditions: ["a"], blacklistRemovals: [] });
  });

  test("a container whose end is reported before it could be given back is not", () => {
    table.release(["container_1_0001_01_000009"]);
    table.ended("container_1_0001_01_000009");
    expect(table.take()).toEqual(nothing);
  });

  test("a container whose end was reported is not given back again after a refusal", () => {
    table.release(["container_1_0001_01_000008", "container_1_0001_01_000009"]);
    const changes = table.take();
    table.ended("container_1_0001_01_000008");
    table.refused(changes);
    expect(table.take().releases).toEqual(["container_1_0001_01_000009"]);
  });
});

describe("a container that came", () => {
  test("lowers the rows it answers, though it is larger than asked", () => {
    const other = row({ priority: 2, allocationRequestId: 8 });
    table.ask([
      row(),
      row({ resourceName: "/rack" }),
      row({ resourceName: "host-a" }),
      row({ resourceName: "host-b" }),
    ]);
    table.ask([other]);
    table.granted(container());
    expect(table.rows).toEqual([
      row({ count: 1 }),
      row({ resourceName: "/rack", count: 1 }),
      row({ resourceName: "host-a", count: 1 }),
      row({ resourceName: "host-b" }),
      other,
    ]);
  });

  test("of several racks none is lowered: which one it was is not told", () => {
    table.ask([row(), row({ resourceName: "/one" }), row({ resourceName: "/two" })]);
    table.granted(container());
    expect(countsOf(table)).toEqual({ "*": 1, "/one": 2, "/two": 2 });
  });

  test("lowers a rack's row where the other racks are not asked for any more", () => {
    table.ask([row(), row({ resourceName: "/one" }), row({ resourceName: "/two" })]);
    table.take();
    table.ask([row({ resourceName: "/two", count: 0 })]);
    table.take();
    table.granted(container());
    expect(countsOf(table)).toEqual({ "*": 1, "/one": 1 });
  });

  test("is never counted below nothing: the ResourceManager gives more than was asked now and then", () => {
    fc.assert(
      fc.property(fc.nat(5), fc.nat(10), (wanted, given) => {
        const table = new OutstandingRequests();
        table.ask([row({ count: wanted })]);
        for (let index = 0; index < given; index += 1) table.granted(container());
        expect(countsOf(table)).toEqual(wanted > given ? { "*": wanted - given } : {});
      }),
    );
  });
});

describe("after a resync everything outstanding is told again", () => {
  test("what is still wanted, unfinished releases, the whole blacklist", () => {
    table.ask([row({ count: 3 })]);
    table.release(["container_1_0001_01_000004", "container_1_0001_01_000005"]);
    table.blacklist({ add: ["a", "b"] });
    table.take();
    table.granted(container());
    table.ended("container_1_0001_01_000004");
    table.blacklist({ remove: ["a"] });
    table.resync();
    expect(table.take()).toEqual({
      ...nothing,
      asks: [row({ count: 2 })],
      releases: ["container_1_0001_01_000005"],
      blacklistAdditions: ["b"],
      blacklistRemovals: [],
    });
  });

  test("a container that comes while its row is being withdrawn changes nothing of that", () => {
    const constrained = { priority: 3, capability, count: 0, tags: ["w"] };
    table.ask([row({ count: 0 })]);
    table.askConstrained([constrained]);
    table.granted(container());
    table.rejected({ priority: 3, count: 2, reason: "could not place" });
    expect(table.take()).toMatchObject({ asks: [row({ count: 0 })], constrained: [constrained] });
  });

  test("but not what has been answered meanwhile", () => {
    table.ask([row({ count: 1 })]);
    table.release(["container_1_0001_01_000003"]);
    table.take();
    table.granted(container());
    table.ended("container_1_0001_01_000003");
    table.resync();
    expect(table.take()).toEqual(nothing);
  });
});

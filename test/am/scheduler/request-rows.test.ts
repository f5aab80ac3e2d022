import { describe, expect, test } from "@jest/globals";
import type { Ask } from "../../../am/core/state/effects.ts";
import { requestRows } from "../../../am/scheduler/yarn/request-rows.ts";

const resource = { memoryMiB: 1024, vcores: 1, others: {} };

function anAsk(changes: Partial<Ask> = {}): Ask {
  return { role: "worker", priority: 1, resource, count: 4, hosts: [], racks: [], ...changes };
}

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

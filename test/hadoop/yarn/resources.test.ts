import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { yarn } from "../../../src/hadoop/wire/yarn.ts";
import { resourceFromWire, resourceToWire } from "../../../src/hadoop/yarn/convert-resources.ts";
import { convertUnits, parseAmount, ResourceTypes } from "../../../src/hadoop/yarn/resource-types.ts";

const types = new ResourceTypes([
  { name: "memory-mb", units: "Mi" },
  { name: "vcores", units: "" },
  { name: "yarn.io/gpu", units: "" },
  { name: "disk", units: "Gi" },
]);

describe("units", () => {
  test.each([
    [1, "Gi", "Mi", 1_024],
    [1, "G", "M", 1_000],
    [1_536, "Mi", "Gi", 1],
    [3, "", "m", 3_000],
    [1, "Gi", "", 1_073_741_824],
    [1, "G", "Gi", 0],
    [5, "p", "", 0],
    [2, "Ti", "Ti", 2],
  ])("%d%s is %s: %d", (amount, from, to, expected) => {
    expect(convertUnits(from, to, amount)).toBe(expected);
  });

  test("there and back within a family loses nothing", () => {
    const larger = fc.constantFrom("Ki", "Mi", "Gi");
    fc.assert(
      fc.property(larger, fc.nat(1_000_000), (unit, amount) => {
        expect(convertUnits("", unit, convertUnits(unit, "", amount))).toBe(amount);
      }),
    );
  });

  test("what JavaScript's numbers can't hold is refused", () => {
    expect(() => convertUnits("Pi", "", 1_000)).toThrow(expect.objectContaining({ code: "AMOUNT_TOO_LARGE" }));
    expect(() => convertUnits("lb", "", 1)).toThrow(/"lb" is not a unit; YARN knows p, n, u, m, k/);
    expect(() => convertUnits("toString", "", 1)).toThrow(expect.objectContaining({ code: "UNIT_UNKNOWN" }));
  });

  test("amounts are read with their units", () => {
    expect(parseAmount(" 10Gi ")).toEqual({ amount: 10, unit: "Gi" });
    expect(parseAmount("2")).toEqual({ amount: 2, unit: "" });
    expect(() => parseAmount("2lb")).toThrow(expect.objectContaining({ code: "UNIT_UNKNOWN" }));
    for (const text of ["", "Gi", "1.5", "-1", "99999999999999999999"]) {
      expect(() => parseAmount(text)).toThrow(expect.objectContaining({ code: "AMOUNT_MALFORMED" }));
    }
  });
});

describe("resources on the wire", () => {
  test("other types travel with their units, and none of amount 0", () => {
    const resource = { memoryMiB: 512, vcores: 2, others: { "yarn.io/gpu": 1, disk: 10, nothing: 0 } };
    const message = resourceToWire(resource, types);
    expect(message.resource_value_map).toEqual([
      { key: "yarn.io/gpu", value: 1, units: "" },
      { key: "disk", value: 10, units: "Gi" },
    ]);
    const decoded = yarn.ResourceProto.decode(yarn.ResourceProto.encode(message).finish());
    expect(resourceFromWire(decoded)).toEqual({ ...resource, others: { "yarn.io/gpu": 1, disk: 10 } });
  });

  test("memory and cores in the map do not count twice", () => {
    const map = [
      { key: "memory-mb", value: 512, units: "Mi" },
      { key: "vcores", value: 2, units: "" },
      { key: "disk", value: 0, units: "Gi" },
    ];
    expect(resourceFromWire({ memory: 512, virtual_cores: 2, resource_value_map: map })).toEqual({
      memoryMiB: 512,
      vcores: 2,
      others: {},
    });
  });

  test("a type that the cluster lacks is refused, and the known ones are named", () => {
    const tpu = { memoryMiB: 1, vcores: 1, others: { "yarn.io/tpu": 1 } };
    expect(() => resourceToWire(tpu, types)).toThrow(
      'The cluster has no resource type "yarn.io/tpu": it has yarn.io/gpu, disk',
    );
    expect(() => resourceToWire(tpu, types)).toThrow(
      expect.objectContaining({ code: "RESOURCE_TYPE_UNKNOWN", resourceType: "yarn.io/tpu" }),
    );
    expect(types.names).toEqual(["yarn.io/gpu", "disk"]);
    expect(() => new ResourceTypes([]).check(tpu)).toThrow(/it has none besides memory and cores/);
    expect(() => new ResourceTypes([]).check({ ...tpu, others: { "yarn.io/tpu": 0 } })).not.toThrow();
  });
});

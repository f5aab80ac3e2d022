import { describe, expect, test } from "@jest/globals";
import { parsePlacementConstraint, parsePlacementRules } from "../../../src/hadoop/yarn/parse-placement.ts";
import { type PlacementConstraint, UNBOUNDED } from "../../../src/hadoop/yarn/placement-constraint.ts";

const apart: PlacementConstraint = { kind: "tags", scope: "node", min: 0, max: 0, tags: [{ tag: "w" }] };
const nearPs: PlacementConstraint = { kind: "tags", scope: "rack", min: 1, max: UNBOUNDED, tags: [{ tag: "ps" }] };
const java: PlacementConstraint = { kind: "attribute", name: "java", is: true, values: ["1.8"] };

describe("a placement constraint", () => {
  test.each<[string, PlacementConstraint]>([
    ["notin,node,w", apart],
    [" NotIn , NODE , w ", apart],
    ["in,rack,ps", nearPs],
    ["cardinality,node,w,1,3", { ...apart, min: 1, max: 3 }],
    ["notin,node,w,ps", { ...apart, tags: [{ tag: "w" }, { tag: "ps" }] }],
    ["notin,node,self/w", apart],
    ["notin,node,all/w", { ...apart, tags: [{ namespace: "all", tag: "w" }] }],
    ["notin,node,app-tag/nightly/w", { ...apart, tags: [{ namespace: "app-tag/nightly", tag: "w" }] }],
    ["java=1.8", java],
    ["AND( notin,node,w : : java=1.8 )", { kind: "and", of: [apart, java] }],
    ["java!=1.8,11", { ...java, is: false, values: ["1.8", "11"] }],
    ["nm.yarn.io/os=debian", { ...java, name: "nm.yarn.io/os", values: ["debian"] }],
    ["and(notin,node,w:java=1.8)", { kind: "and", of: [apart, java] }],
    ["OR(and(notin,node,w:in,rack,ps):java=1.8)", { kind: "or", of: [{ kind: "and", of: [apart, nearPs] }, java] }],
  ])("%s", (text, constraint) => {
    expect(parsePlacementConstraint(text)).toEqual(constraint);
  });

  test.each([
    "",
    "near,node,w",
    "notin,host,w",
    "notin,node",
    "notin,node,every/w",
    "cardinality,node,w,3,1",
    "cardinality,node,w,1",
    "cardinality,node,1,3",
    "cardinality,node,w,one,3",
    "cardinality,node,w,1,1234567890",
    "notin,node,w x",
    "notin,node,all/w x",
    "java=1.8,1 1",
    "java=1 8,11",
    "java=",
    "=1.8",
    "and()",
    "and(notin,node,w",
  ])("is not: %s", (text) => {
    expect(() => parsePlacementConstraint(text)).toThrow(/^a placement constraint such as .*, not /);
  });
});

describe("several of them", () => {
  test("each for all containers, or for those with the tag in front of it", () => {
    expect(parsePlacementRules("w(3),notin,node,w:ps=2,in,rack,ps:java=1.8")).toEqual([
      { sourceTag: "w", constraint: apart },
      { sourceTag: "ps", constraint: nearPs },
      { constraint: java },
    ]);
  });

  test("at least one", () => {
    expect(() => parsePlacementRules(" ")).toThrow(RangeError);
    expect(() => parsePlacementRules(" : ")).toThrow(/, not ":"$/);
    expect(parsePlacementRules(" w(3) , notin,node,w : : java=1.8 ")).toEqual([
      { sourceTag: "w", constraint: apart },
      { constraint: java },
    ]);
  });
});

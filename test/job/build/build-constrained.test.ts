import { describe, expect, test } from "@jest/globals";
import { parsePlacementConstraint as parsed } from "../../../src/hadoop/yarn/parse-placement.ts";
import { parseJobSpec } from "../../../src/job/stored/parse-spec.ts";
import { minimalJob, saidAbout, specOf } from "../support.ts";

const twoRoles = {
  "tony.ps.instances": "1",
  "tony.worker.allocation-tags": "w",
  "tony.ps.allocation-tags": "p",
};
const placesOf = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(specOf({ ...twoRoles, ...values }).roles.map(({ name, constrained }) => [name, constrained]));

describe("where YARN may place a role's containers", () => {
  test("anywhere, unless the job says otherwise", () => {
    expect(specOf({}).roles[0]?.constrained).toBeUndefined();
  });

  test("its own constraint and tags go before those of all containers", () => {
    const places = placesOf({
      "tony.worker.placement-spec": "notin,node,w",
      "tony.containers.placement-spec": "in,rack,w",
      "tony.containers.allocation-tags": "x",
    });
    expect(places.worker).toEqual({ tags: ["w"], constraint: parsed("notin,node,w") });
    expect(places.ps).toEqual({ tags: ["p"], constraint: parsed("in,rack,w") });
  });

  test("the application's are added, for all or for those with a tag", () => {
    const places = placesOf({
      "tony.worker.placement-spec": "notin,node,w",
      "tony.application.placement-spec": "p(1),in,node,w:notin,node,p",
    });
    expect(places.worker).toEqual({ tags: ["w"], constraint: parsed("and(notin,node,w:notin,node,p)") });
    expect(places.ps).toEqual({ tags: ["p"], constraint: parsed("and(in,node,w:notin,node,p)") });
  });

  test("tags alone are enough to be named by others' constraints", () => {
    expect(placesOf({}).ps).toEqual({ tags: ["p"] });
  });

  test("comes as it was through JSON", () => {
    const spec = specOf({ ...twoRoles, "tony.worker.placement-spec": "or(notin,node,all/w:and(java=1.8:in,rack,p))" });
    expect(parseJobSpec(JSON.stringify(spec))).toEqual(spec);
  });
});

describe("what is refused", () => {
  const said = (values: Readonly<Record<string, string>>) => saidAbout({ ...minimalJob, ...twoRoles, ...values });

  test("a tag that no role has", () => {
    expect(said({ "tony.ps.placement-spec": "in,node,ww" })).toEqual([
      "job.xml:6: tony.ps.placement-spec names tag ww, which no role of the job has: did you mean w?",
    ]);
    expect(said({ "tony.ps.placement-spec": "in,node,not-self/ww" })).toEqual([]);
  });

  test("hosts chosen as well", () => {
    expect(said({ "tony.worker.placement": "spread" })).toEqual([
      "job.xml:6: tony.worker.placement = spread names hosts, which tony.worker.allocation-tags leaves to YARN; keep one of the two",
    ]);
  });

  test("several constraints with a node label", () => {
    expect(
      said({ "tony.worker.placement-spec": "and(notin,node,w:in,rack,p)", "tony.worker.node-label": "gpu" }),
    ).toEqual([
      "job.xml:6: tony.worker.placement-spec has several constraints, which YARN does not combine with a node label (gpu)",
    ]);
  });

  test("what is no constraint", () => {
    expect(said({ "tony.worker.placement-spec": "apart" })[0]).toMatch(
      /^job\.xml:6: tony\.worker\.placement-spec must be a placement constraint such as "notin,node,worker"/,
    );
  });
});

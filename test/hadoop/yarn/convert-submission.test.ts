import { expect, test } from "@jest/globals";
import { applicationReportFromWire } from "../../../src/hadoop/yarn/convert-reports.ts";
import { filterToWire } from "../../../src/hadoop/yarn/convert-submission.ts";

test("tags are looked for as YARN's own clients have them: in lower case, each once", () => {
  expect(filterToWire({ tags: ["Team-A", "team-a", "NIGHTLY"] }).applicationTags).toEqual(["team-a", "nightly"]);
  expect(filterToWire({}).applicationTags).toEqual([]);
});

test("a time that is open at one end has both on the wire, as the server wants it", () => {
  expect(filterToWire({ startedMs: { from: 5 }, finishedMs: { to: 9 } })).toMatchObject({
    start_begin: 5,
    start_end: Number.MAX_SAFE_INTEGER,
    finish_begin: 0,
    finish_end: 9,
  });
  expect(filterToWire({})).not.toHaveProperty("start_begin");
});

test("an application whose ApplicationMaster runs in no container of the cluster's is reported as such", () => {
  const applicationId = { cluster_timestamp: 1, id: 2 };
  expect(applicationReportFromWire({ applicationId, unmanaged_application: true }).unmanaged).toBe(true);
  expect(applicationReportFromWire({ applicationId, unmanaged_application: false }).unmanaged).toBeUndefined();
});

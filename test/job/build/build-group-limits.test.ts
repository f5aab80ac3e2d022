import { describe, expect, test } from "@jest/globals";
import { buildJobSpec } from "../../../src/job/build/build-spec.ts";
import { mergeSettings } from "../../../src/job/settings.ts";
import { parseJobSpec } from "../../../src/job/stored/parse-spec.ts";
import { jobSettings, minimalJob, saidAbout, siteSetting, specOf } from "../support.ts";

const limit = "tony.application.dependency.evaluator.timeout.after.training";
const job = { ...minimalJob, "tony.evaluator.instances": "1", "tony.application.group.training": "worker,chief" };

describe("how long a role may run on after a group", () => {
  test("is read with the group's roles that the job has, and survives job.json", () => {
    const spec = specOf({ ...job, [limit]: "3600" });
    expect(spec.groupLimits).toEqual([
      { role: "evaluator", group: "training", roles: ["worker"], limitMs: 3_600_000, atLimit: "fail" },
    ]);
    expect(parseJobSpec(JSON.stringify(spec)).groupLimits).toEqual(spec.groupLimits);
    const ignored = specOf({ ...job, [limit]: "10m", [`${limit}.ignored`]: "true" });
    expect(ignored.groupLimits).toMatchObject([{ limitMs: 600_000, atLimit: "untrack" }]);
  });

  test("is nothing without a limit, or for a role or group that the job does not have", () => {
    expect(specOf(job).groupLimits).toEqual([]);
    expect(specOf({ ...minimalJob, "tony.application.group.training": "worker", [limit]: "60" }).groupLimits).toEqual(
      [],
    );
    expect(specOf({ ...job, "tony.application.group.training": "chief", [limit]: "60" }).groupLimits).toEqual([]);
  });

  test("says once which role is missing, and what names nobody", () => {
    const other = limit.replace("evaluator", "ps");
    const known = { ...job, "tony.ps.instances": "1", "tony.application.group.training": "worker,chief" };
    expect(saidAbout({ ...known, [limit]: "60", [other]: "60" })).toEqual([
      "job.xml:4: warning: tony.application.group.training names chief, which the job does not have",
    ]);
    expect(saidAbout({ ...minimalJob, [`${limit.replace("evaluator", "worker")}.ignored`]: "true" })).toEqual([
      "job.xml:3: warning: tony.application.dependency.worker.timeout.after.training.ignored has no effect without tony.application.dependency.worker.timeout.after.training",
    ]);
  });

  test("is needed by a group, which has no effect without one; a site's file has them for other jobs too", () => {
    const warning =
      "tony.application.group.training has no effect: no tony.application.dependency.{role}.timeout.after.training";
    expect(saidAbout(job)).toEqual([`job.xml:4: warning: ${warning} names it`]);
    const { settings } = mergeSettings([
      ...jobSettings(minimalJob),
      siteSetting("tony.application.group.training", "worker"),
    ]);
    expect(buildJobSpec(settings, { workingDirectory: "/home/ada", lookUp: () => "file" }).problems).toEqual([]);
  });

  test("never takes effect where the group begins when the role is done", () => {
    const staged = { ...job, "tony.application.group.training": "worker", "tony.worker.depends-on": "evaluator" };
    expect(saidAbout({ ...staged, [limit]: "60" })).toEqual([
      `job.xml:6: warning: ${limit} never takes effect: worker is asked for only when evaluator is done; take it out, or out of tony.application.group.training`,
    ]);
  });

  test("needs the group, and a role outside of it", () => {
    expect(saidAbout({ ...minimalJob, "tony.evaluator.instances": "1", [limit]: "60" })).toEqual([
      `job.xml:4: ${limit} needs tony.application.group.training to name the roles of training`,
    ]);
    expect(saidAbout({ ...job, "tony.application.group.training": "worker,evaluator", [limit]: "60" })).toEqual([
      `job.xml:5: ${limit} makes evaluator wait for itself: take it out of tony.application.group.training`,
    ]);
  });
});

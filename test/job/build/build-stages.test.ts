import { describe, expect, test } from "@jest/globals";
import { stagesOf } from "../../../src/job/stages.ts";
import { parseJobSpec } from "../../../src/job/stored/parse-spec.ts";
import { minimalJob, saidAbout, specOf } from "../support.ts";

const job = { ...minimalJob, "tony.prep.instances": "1", "tony.ps.instances": "1" };
const prepare = "tony.application.prepare-stage";
const training = "tony.application.training-stage";

function stages(values: Readonly<Record<string, string>>): string[] {
  return stagesOf(specOf({ ...job, ...values }).roles).map(
    ({ roles, after }) => `${roles} after ${after.length === 0 ? "nobody" : after}`,
  );
}

describe("the stages of a job", () => {
  test("are one where no role waits for another", () => {
    expect(stages({})).toEqual(["worker,prep,ps after nobody"]);
  });

  test("are what prepare-stage and training-stage say; the one that is not named has all other roles", () => {
    const two = ["worker,ps after prep", "prep after nobody"];
    expect(stages({ [prepare]: "prep", [training]: "worker,ps" })).toEqual(two);
    expect(stages({ [prepare]: "prep" })).toEqual(two);
    expect(stages({ [training]: "worker,ps" })).toEqual(two);
  });

  test("wait for the tracked roles of the prepare stage only", () => {
    const untracked = { "tony.application.untracked.jobtypes": "ps", [training]: "worker" };
    expect(stages(untracked)).toEqual(["worker after prep", "prep,ps after nobody"]);
  });

  test("have the roles that wait for the same ones", () => {
    expect(
      stages({
        "tony.eval.instances": "1",
        "tony.worker.depends-on": "prep",
        "tony.ps.depends-on": "prep",
        "tony.eval.depends-on": "worker",
      }),
    ).toEqual(["worker,ps after prep", "prep after nobody", "eval after worker"]);
  });

  test("survive job.json", () => {
    const spec = specOf({ ...job, "tony.worker.depends-on": "prep" });
    expect(parseJobSpec(JSON.stringify(spec)).roles).toEqual(spec.roles);
  });
});

describe("stages that can never begin are refused", () => {
  test("roles that wait for each other, with the keys that say so", () => {
    expect(
      saidAbout({
        ...job,
        "tony.eval.instances": "1",
        "tony.worker.depends-on": "prep",
        "tony.prep.depends-on": "eval",
        "tony.eval.depends-on": "worker",
      }),
    ).toEqual([
      "job.xml:6: tony.worker.depends-on makes roles wait for each other: worker → prep → eval → worker, by tony.prep.depends-on (job.xml:7), tony.eval.depends-on (job.xml:8) as well",
    ]);
    expect(saidAbout({ ...job, [prepare]: "prep", "tony.prep.depends-on": "worker" })).toEqual([
      "job.xml:5: tony.application.prepare-stage makes roles wait for each other: worker → prep → worker, by tony.prep.depends-on (job.xml:6) as well",
    ]);
    expect(saidAbout({ ...job, "tony.prep.depends-on": "prep" })).toEqual([
      "job.xml:5: tony.prep.depends-on makes roles wait for each other: prep → prep",
    ]);
  });

  test("roles that YARN places beside each other, or beside themselves, and so none of them first", () => {
    const tags = { "tony.worker.allocation-tags": "w", "tony.prep.allocation-tags": "p" };
    expect(
      saidAbout({
        ...job,
        ...tags,
        "tony.worker.placement-spec": "in,node,p",
        "tony.prep.placement-spec": "in,rack,w",
      }),
    ).toEqual([
      "job.xml:7: tony.worker.placement-spec makes roles wait for each other: worker → prep → worker, by tony.prep.placement-spec (job.xml:8) as well",
    ]);
    expect(
      saidAbout({ ...job, ...tags, "tony.worker.depends-on": "prep", "tony.prep.placement-spec": "in,node,w" }),
    ).toEqual([
      "job.xml:7: tony.worker.depends-on makes roles wait for each other: worker → prep → worker, by tony.prep.placement-spec (job.xml:8) as well",
    ]);
    expect(saidAbout({ ...job, ...tags, "tony.worker.placement-spec": "cardinality,node,w,1,3" })).toEqual([
      "job.xml:7: tony.worker.placement-spec makes roles wait for each other: worker → worker",
    ]);
    for (const place of ["notin,node,w", "cardinality,node,w,0,3", "or(in,node,w:java=1.8)", "in,node,p"])
      expect(saidAbout({ ...job, ...tags, "tony.worker.placement-spec": place })).toEqual([]);
  });

  test("a role that the job does not have", () => {
    expect(saidAbout({ ...job, "tony.worker.depends-on": "prp" })).toEqual([
      "job.xml:5: tony.worker.depends-on names prp, which the job does not have; did you mean prep?",
    ]);
    expect(saidAbout({ ...job, [prepare]: "prp" })).toEqual([
      "job.xml:5: tony.application.prepare-stage names prp, which the job does not have; did you mean prep?",
    ]);
  });

  test("a role whose end nobody waits for, of which a warning says so, as TonY's jobs may have it", () => {
    expect(saidAbout({ ...job, "tony.application.untracked.jobtypes": "ps", "tony.worker.depends-on": "ps" })).toEqual([
      "job.xml:6: warning: tony.worker.depends-on has no effect for ps, which is not tracked: nobody waits for its end, and both start together",
    ]);
  });

  test("a role in both stages, or in none", () => {
    expect(saidAbout({ ...job, [prepare]: "prep,ps", [training]: "worker,ps" })).toEqual([
      "job.xml:6: tony.application.training-stage names ps, which tony.application.prepare-stage names as well",
    ]);
    expect(saidAbout({ ...job, [prepare]: "prep", [training]: "worker" })).toEqual([
      "job.xml:6: tony.application.training-stage leaves out ps, which tony.application.prepare-stage does not name either: put each role into one of them",
    ]);
  });
});

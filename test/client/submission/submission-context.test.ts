import { describe, expect, test } from "@jest/globals";
import { masterEnvironment, submissionContext } from "../../../client/submission/submission-context.ts";
import { closedLogName, UNFINISHED } from "../../../src/job/closed-log.ts";
import type { JobSpec } from "../../../src/job/spec.ts";
import { aJobSpec } from "../../support/job-spec.ts";

const launch = { files: [], environment: {}, commands: ["true"], credentials: new Uint8Array(0) };

function context(changes: Partial<JobSpec> = {}) {
  return submissionContext("application_1_0001", aJobSpec(changes), launch);
}

describe("what YARN is told of a job", () => {
  test("are its tags and the label of its ApplicationMaster's node", () => {
    const { am } = aJobSpec();
    expect(context({ tags: ["red", "blue"], am: { ...am, nodeLabel: "cpu" } })).toMatchObject({
      tags: ["red", "blue"],
      masterNodeLabel: "cpu",
    });
  });

  test("is who may see it and who may end it, where the job says so", () => {
    expect(context().masterLaunch.acls).toEqual({});
    expect(context({ viewAcl: "ada,bob ml", modifyAcl: " ops" }).masterLaunch.acls).toEqual({
      viewers: "ada,bob ml,ops",
      modifiers: " ops",
    });
  });

  test("is to store all logs at the end, and while it runs those alone that are closed", () => {
    const { include = "", exclude = "", rolledInclude = "", rolledExclude } = context().logAggregation ?? {};
    const stored = (name: string) => [
      new RegExp(include).test(name) && !new RegExp(exclude).test(name),
      new RegExp(rolledInclude).test(name),
    ];
    const closed = closedLogName("trainer-0.stdout", 5);
    expect(["stdout", "am.log", "output.index"].map(stored)).toEqual(Array(3).fill([true, false]));
    expect(stored(closed)).toEqual([true, true]);
    expect(stored(closed + UNFINISHED)).toEqual([false, false]);
    expect(rolledExclude).toBe("");
  });
});

test("a person's variables are expanded in the ApplicationMaster's environment as in an executor's, and run no command", () => {
  const staging = { user: "ada", stagingUrl: "hdfs://ns/user/ada/.tony-ts/application_1_0001", hadoop: {} };
  const spec = aJobSpec({ containerEnvironment: { WHERE: "$HOME/x", SAID: '"; id; $(id) "' } });
  expect(masterEnvironment(spec, { staging, sha256: "0".repeat(64) })).toMatchObject({
    WHERE: "$HOME/x",
    SAID: '\\"; id; \\$(id) \\"',
  });
});

import { describe, expect, test } from "@jest/globals";
import { checkKeys } from "../../../src/job/build/check-keys.ts";
import { formatProblem } from "../../../src/job/problem.ts";
import { mergeSettings } from "../../../src/job/settings.ts";
import { jobSettings, siteSetting } from "../support.ts";

function said(values: Readonly<Record<string, string>>): string[] {
  return checkKeys(mergeSettings(jobSettings(values)).settings).map(formatProblem);
}

const worker = { "tony.worker.instances": "1" };

describe("checking keys", () => {
  test("an unknown key is an error with its place and the nearest key", () => {
    expect(said({ ...worker, "tony.worker.memroy": "4g" })).toEqual([
      "job.xml:2: tony.worker.memroy is not a key; did you mean tony.worker.memory?",
    ]);
    expect(said({ "tony.aplication.nmae": "x" })).toEqual([
      "job.xml:1: tony.aplication.nmae is not a key; did you mean tony.application.name?",
    ]);
  });

  test("the suggestion keeps the name of a search's parameter", () => {
    expect(said({ "tony.search.params.lr": "float 0 1" })).toEqual([
      "job.xml:1: tony.search.params.lr is not a key; did you mean tony.search.param.lr?",
    ]);
  });

  test("a parameter's name that cannot be one, and what is no key of a search, are errors", () => {
    expect(said({ "tony.search.param.a b": "float 0 1", "tony.search.pruner": "median" })).toEqual([
      "job.xml:1: tony.search.param.a b is not a key: write the parameter's name with letters, digits and _, such as a_b",
      "job.xml:2: tony.search.pruner is not a key of a search (tony-ts keys search lists them all)",
    ]);
  });

  test("the suggestion keeps the job's own roles", () => {
    expect(said({ "tony.trainer.instances": "1", "tony.trainer.vcore": "2" })).toEqual([
      "job.xml:2: tony.trainer.vcore is not a key; did you mean tony.trainer.vcores?",
    ]);
  });

  test("a key that resembles none is a warning: TonY ignores it, too", () => {
    expect(said({ "tony.x": "1", "tony.java.home": "/usr/java" })).toEqual([
      "job.xml:1: warning: tony.x has no effect: neither TonY nor tony-ts has such a key (tony-ts keys lists them all)",
      "job.xml:2: warning: tony.java.home has no effect: neither TonY nor tony-ts has such a key (tony-ts keys lists them all)",
    ]);
  });

  test("a variable that is read otherwise than it looks is told of", () => {
    const key = "tony.execution.envs";
    const at = "job.xml:2: warning: tony.execution.envs";
    expect(said({ ...worker, [key]: "A=1,FOO" })).toEqual([
      `${at} sets FOO to nothing: write FOO=VALUE, or FOO= where that is meant`,
    ]);
    expect(said({ ...worker, [key]: "A=1;B=2" })).toEqual([
      `${at} makes B a part of A: separate variables with a comma, not with ;`,
    ]);
    expect(said({ ...worker, [key]: "A=1,B=,OPTS=a;b=c;d" })).toEqual([]);
    const option = { key, value: "A=1;B=2", layer: "option", at: "--shell_env", final: false } as const;
    expect(checkKeys(mergeSettings([option]).settings)).toEqual([]);
  });

  test("a role cannot take the name of TonY's own keys", () => {
    expect(said({ "tony.task.instances": "1" })).toEqual([
      "job.xml:1: tony.task.instances is not a key: task cannot be the name of a role",
    ]);
  });

  test("what each role has is no key of all: the role's own is named", () => {
    expect(said({ ...worker, "tony.containers.memory": "4g", "tony.application.retry-count": "1" })).toEqual([
      "job.xml:2: tony.containers.memory is not a key: each role has one of its own, as tony.worker.memory",
      "job.xml:3: tony.application.retry-count is not a key: each role has one of its own, as tony.worker.retry-count",
    ]);
  });

  test("memory of a few MiB was meant in GiB", () => {
    expect(said({ ...worker, "tony.worker.memory": "8" })).toEqual([
      "job.xml:2: warning: tony.worker.memory = 8 is 8 MiB: write 8g for GiB",
    ]);
    for (const enough of ["8g", "64", "2048", "8m", "0"])
      expect(said({ ...worker, "tony.worker.memory": enough }).filter((line) => line.includes("MiB:"))).toEqual([]);
  });

  test.each(["Worker", "my_worker", "2nd", "arbeiter-ä", "-"])(
    "a role that is called %s is told what a role may be called",
    (role) => {
      expect(said({ ...worker, [`tony.${role}.memory`]: "1g" })).toEqual([
        `job.xml:2: tony.${role}.memory is not a key: ${role} cannot be the name of a role, which is of lower-case letters, digits and dashes, beginning with a letter`,
      ]);
    },
  );

  test("a key that only looks like one of a role is not taken for it", () => {
    expect(said({ ...worker, "tony.Worker.colour": "red" })).toEqual([
      expect.stringMatching(/^job.xml:2: warning: tony.Worker.colour has no effect/),
    ]);
  });

  test("a value of the wrong type is an error that says the right one", () => {
    expect(said({ ...worker, "tony.worker.memory": "lots" })).toEqual([
      'job.xml:2: tony.worker.memory must be a whole amount such as 2g or 512m (a bare number is MiB; for one and a half GiB write 1536m), not "lots"',
    ]);
  });

  test("am is the ApplicationMaster: TonY's tasks of that name are not run", () => {
    expect(said({ ...worker, "tony.am.instances": "1" })).toEqual([
      "job.xml:2: warning: tony.am.instances has no effect: am is the ApplicationMaster, and a job has only one; TonY would also start tasks am:0, …: give such a role another name",
    ]);
  });

  test("Java's keys are warnings", () => {
    expect(said({ "tony.task.executor.jvm.opts": "-Xmx2g" })).toEqual([
      "job.xml:1: warning: tony.task.executor.jvm.opts has no effect: there is no JVM",
    ]);
  });

  test("a key of a role that the job does not have is a warning, with the role that was meant", () => {
    expect(said({ ...worker, "tony.wroker.memory": "4g", "tony.evaluator.gpus": "1" })).toEqual([
      "job.xml:2: warning: tony.wroker.memory has no effect: the job has no role wroker (tony.wroker.instances is not set); did you mean tony.worker.memory?",
      "job.xml:3: warning: tony.evaluator.gpus has no effect: the job has no role evaluator (tony.evaluator.instances is not set)",
    ]);
  });

  test("a site's file is checked for errors, but warns nobody", () => {
    const { settings } = mergeSettings([
      siteSetting("tony.ps.memory", "1g"),
      siteSetting("tony.docker.worker.image", "x"),
      siteSetting("tony.am.memory", "x"),
      siteSetting("tony.java.home", "/usr/java"),
    ]);
    expect(checkKeys(settings).map((problem) => problem.key)).toEqual(["tony.am.memory"]);
  });

  test("Hadoop's own keys are none of our business", () => {
    expect(said({ "yarn.resourcemanager.address": "rm:8032" })).toEqual([]);
  });
});

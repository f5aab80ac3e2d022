import { describe, expect, test } from "@jest/globals";
import { checkOtherNames } from "../../../src/job/build/check-other-names.ts";
import { formatProblem } from "../../../src/job/problem.ts";
import { mergeSettings, type Setting } from "../../../src/job/settings.ts";
import { jobSettings, optionSetting, siteSetting } from "../support.ts";

function said(...settings: readonly Setting[]): string[] {
  return checkOtherNames(mergeSettings(settings).settings).map(formatProblem);
}

describe("names outside tony.", () => {
  test.each([
    "yarn.resourcemanager.hostname",
    "dfs.nameservices",
    "fs.defaultFS",
    "hadoop.security.authentication",
    "ipc.client.connect.timeout",
    "mapreduce.job.hdfs-servers",
    "yarn.resource.memory",
  ])("%s is Hadoop's", (name) => {
    expect(said(optionSetting(name, "x"))).toEqual([]);
  });

  test.each([
    ["worker.memory", "tony.worker.memory"],
    ["yarn.queue", "tony.yarn.queue"],
    ["application.name", "tony.application.name"],
    ["tonny.ps.instances", "tony.ps.instances"],
    ["TONY.worker.gpus", "tony.worker.gpus"],
  ])("%s on the command line is refused, for %s was meant", (name, meant) => {
    expect(said(optionSetting(name, "1"))).toEqual([
      `-conf: ${name} is not a key: those of a job begin with tony.; did you mean ${meant}?`,
    ]);
  });

  test("in a file, which TonY would run, the same is a warning", () => {
    expect(said(...jobSettings({ "worker.memory": "8g" }))).toEqual([
      "job.xml:1: warning: worker.memory is not a key: those of a job begin with tony.; did you mean tony.worker.memory?",
    ]);
  });

  test("one that nothing reads is said where it was typed, and not in files", () => {
    expect(said(...jobSettings({ "azkaban.flow": "f" }), siteSetting("site.owner", "x"))).toEqual([]);
    expect(said(optionSetting("data.root", "/data"))).toEqual([
      "-conf: warning: data.root has no effect: it is neither a key of tony-ts, which all begin with tony., nor a Hadoop setting",
    ]);
  });

  test("one that a value refers to has its effect", () => {
    const command = jobSettings({ "tony.worker.command": "train --in ${data.root}" });
    expect(said(...command, optionSetting("data.root", "/data"))).toEqual([]);
  });
});

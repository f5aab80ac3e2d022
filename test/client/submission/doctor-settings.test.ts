import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import {
  historyFindings,
  settingsFindings,
  virtualMemoryFindings,
} from "../../../client/submission/doctor-settings.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";
import { onThisMachine } from "../place.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tony-doctor-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const timeZone = "UTC";

test("the folder of the site's history is looked at where there is one", async () => {
  expect(await historyFindings(onThisMachine, { timeZone })).toEqual([]);
  expect(await historyFindings(onThisMachine, { timeZone, location: folder })).toEqual([
    {
      subject: "history",
      state: "well",
      found: `jobs can write to ${folder}/intermediate (tony.history.location)`,
    },
  ]);
});

test("one that jobs may not write to is wrong, with what helps", async () => {
  const refused = async (name: string) => {
    throw new FileSystemError(`Permission denied: ${name}`, { code: "ACCESS_DENIED" });
  };
  const fileSystem = { uri: "hdfs://nn", checkWritable: refused, stat: refused };
  const place = { fileSystem, path: "/history/running" };
  const places = { home: async () => place, locate: () => place };
  const settings = { timeZone, location: "/history", intermediate: "/history/running" };
  expect(await historyFindings(places, settings)).toEqual([
    {
      subject: "history",
      state: "wrong",
      found: "tony.history.intermediate = /history/running: Permission denied: /history/running",
      remedy: "let everybody write to its folder for running jobs (mode 1777), or name another in tony-site.xml",
    },
  ]);
});

test("a setting without a meaning is wrong, one that is doubtful a remark, each with its place", () => {
  const at = "tony-site.xml:3";
  expect(settingsFindings([])).toEqual([]);
  expect(
    settingsFindings([
      { severity: "error", message: "tony.am.memory is no size", at },
      { severity: "warning", message: "tony.am.memroy is no key", at },
    ]),
  ).toEqual([
    { subject: "settings", state: "wrong", found: "tony-site.xml:3: tony.am.memory is no size" },
    { subject: "settings", state: "remark", found: "tony-site.xml:3: warning: tony.am.memroy is no key" },
  ]);
});

test("that nodes limit virtual memory is a remark, with the key that ends it", () => {
  const findings = (values: Record<string, string>) => virtualMemoryFindings(new Configuration().withValues(values));
  expect(findings({ "yarn.nodemanager.vmem-check-enabled": "false" })).toEqual([]);
  expect(findings({})).toMatchObject([
    {
      subject: "memory",
      state: "remark",
      found: expect.stringContaining("more than 2.1 times their memory"),
      remedy: expect.stringContaining("set yarn.nodemanager.vmem-check-enabled to false"),
    },
  ]);
});

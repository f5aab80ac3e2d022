import { expect, test } from "@jest/globals";
import { parseJobFile } from "../../../src/job/stored/parse-job-file.ts";
import { aJobFile } from "../../support/job-file.ts";

const job = aJobFile({ resourceTypes: [{ name: "memory-mb", units: "Mi" }] });

test("comes back as it was written", () => {
  expect(parseJobFile(JSON.stringify(job))).toEqual(job);
});

test("names the keytab that travels with it", () => {
  const file = { link: "tokens.cjs", sha256: "ab" };
  const keytab = { principal: "ada", sha256: "cd", program: file, nativeModules: { x64: file }, hadoop: {} };
  expect(parseJobFile(JSON.stringify({ ...job, keytab }))).toEqual({ ...job, keytab });
});

test("what we write ourselves is as it should be, or the file is damaged", () => {
  expect(() => parseJobFile(JSON.stringify({ ...job, sharedLabels: "gpu" }))).toThrow(/sharedLabels must be a list/);
});

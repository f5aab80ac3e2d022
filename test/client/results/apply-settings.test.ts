import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { applySettings } from "../../../client/results/apply-settings.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tony-apply-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const job = (memory: string) =>
  `<configuration>\n  <!-- größer -->\n  <property><name>tony.worker.memory</name><value>${memory}</value></property>\n</configuration>\n`;
const settings = [{ key: "tony.worker.memory", value: "9g" }];

test("what is advised is written where the file is, with its mode, also behind a link", () => {
  writeFileSync(path.join(folder, "real.xml"), job("16g"));
  chmodSync(path.join(folder, "real.xml"), 0o640);
  symlinkSync("real.xml", path.join(folder, "job.xml"));
  applySettings("job.xml", settings, folder);
  expect(readFileSync(path.join(folder, "real.xml"), "utf8")).toBe(job("9g"));
  expect(statSync(path.join(folder, "real.xml")).mode & 0o777).toBe(0o640);
});

test("another job's file, one that is not there, and one that is not UTF-8 stay as they are", () => {
  const other = [{ key: "tony.ps.memory", value: "9g" }];
  writeFileSync(path.join(folder, "job.xml"), job("16g"));
  expect(() => applySettings("job.xml", other, folder)).toThrow(
    "job.xml has no key of tony.ps: is it the file of this job?",
  );
  expect(() => applySettings("none.xml", settings, folder)).toThrow("none.xml does not exist");
  const latin = Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?>\n${job("16g")}`, "latin1");
  writeFileSync(path.join(folder, "job.xml"), latin);
  expect(() => applySettings("job.xml", settings, folder)).toThrow("job.xml is not plain UTF-8");
  expect(readFileSync(path.join(folder, "job.xml"))).toEqual(latin);
});

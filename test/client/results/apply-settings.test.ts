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
const settings = [{ key: "tony.worker.memory", value: "9g", isMore: false }];

test("what is advised is written where the file is, with its mode, also behind a link", () => {
  writeFileSync(path.join(folder, "real.xml"), job("16g"));
  chmodSync(path.join(folder, "real.xml"), 0o640);
  symlinkSync("real.xml", path.join(folder, "job.xml"));
  applySettings("job.xml", settings, folder);
  expect(readFileSync(path.join(folder, "real.xml"), "utf8")).toBe(job("9g"));
  expect(statSync(path.join(folder, "real.xml")).mode & 0o777).toBe(0o640);
});

test("another job's file, one that is not there, and one that is not UTF-8 stay as they are", () => {
  const other = [{ key: "tony.ps.memory", value: "9g", isMore: false }];
  writeFileSync(path.join(folder, "job.xml"), job("16g"));
  expect(() => applySettings("job.xml", other, folder)).toThrow(
    "job.xml has no key of tony.ps: is it the file of this job?",
  );
  for (const some of [settings, []])
    expect(() => applySettings("none.xml", some, folder)).toThrow("none.xml does not exist");
  const latin = Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?>\n${job("16g")}`, "latin1");
  writeFileSync(path.join(folder, "job.xml"), latin);
  expect(() => applySettings("job.xml", settings, folder)).toThrow("job.xml is not plain UTF-8");
  expect(readFileSync(path.join(folder, "job.xml"))).toEqual(latin);
});

test.each([
  ["asks for less already", "512m", { value: "576m", isMore: false }, "512m"],
  ["asks for as much, written otherwise", "1024", { value: "1g", isMore: false }, "1024"],
  ["asks for more", "1g", { value: "576m", isMore: false }, "576m"],
  ["asks for less than is needed", "1g", { value: "2g", isMore: true }, "2g"],
  ["asks for just what is needed already", "2048", { value: "2g", isMore: true }, "2048"],
  ["asks for more than is needed already", "4g", { value: "2g", isMore: true }, "4g"],
  ["says what only the cluster knows", "$" + "{memory}", { value: "2g", isMore: false }, "2g"],
] as const)("a file that %s: what it has is compared, not what the run had", (_, before, advised, after) => {
  writeFileSync(path.join(folder, "job.xml"), job(before));
  const { written, kept } = applySettings("job.xml", [{ key: "tony.worker.memory", ...advised }], folder);
  expect(readFileSync(path.join(folder, "job.xml"), "utf8")).toBe(job(after));
  const [one] = before === after ? kept : written;
  expect(one).toEqual({ key: "tony.worker.memory", value: after });
});

test("of a key that the file has twice, the last one counts, as for a submission", () => {
  const property = (value: string) => `<property><name>tony.worker.memory</name><value>${value}</value></property>`;
  writeFileSync(path.join(folder, "job.xml"), `<configuration>${property("4g")}${property("9g")}</configuration>`);
  const advised = { key: "tony.worker.memory", value: "9g", isMore: false };
  expect(applySettings("job.xml", [advised], folder)).toMatchObject({ written: [], kept: [{ value: "9g" }] });
});

test("only what is to change is written, and nothing of a file that stays as it is", () => {
  const property = (name: string, value: string) => `<property><name>${name}</name><value>${value}</value></property>`;
  const text = (memory: string) =>
    `<configuration>${property("tony.application.name", "bert")}${property("tony.worker.memory", memory)}${property("tony.worker.vcores", "2")}</configuration>`;
  const file = path.join(folder, "job.xml");
  writeFileSync(file, text("16g"));
  const cores = { key: "tony.worker.vcores", value: "4", isMore: false };
  expect(applySettings("job.xml", [...settings, cores], folder)).toEqual({
    written: [{ key: "tony.worker.memory", value: "9g" }],
    kept: [{ key: "tony.worker.vcores", value: "2" }],
  });
  expect(readFileSync(file, "utf8")).toBe(text("9g"));
  writeFileSync(file, Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?>\n<!-- ö -->\n${text("9g")}`, "latin1"));
  const { ino, mtimeMs } = statSync(file);
  expect(applySettings("job.xml", [cores], folder).written).toEqual([]);
  expect(statSync(file)).toMatchObject({ ino, mtimeMs });
});

test("a file that cannot be written is told, and stays as it is", () => {
  // The draft beside it would have a name that is too long.
  const name = `${"j".repeat(251)}.xml`;
  writeFileSync(path.join(folder, name), job("16g"));
  expect(() => applySettings(name, settings, folder)).toThrow(
    expect.objectContaining({
      code: "FILE_NOT_WRITTEN",
      message: expect.stringMatching(/^j+\.xml cannot be written: ENAMETOOLONG/),
      cause: expect.objectContaining({ code: "ENAMETOOLONG" }),
    }),
  );
  expect(readFileSync(path.join(folder, name), "utf8")).toBe(job("16g"));
});

test("no default is written", () => {
  writeFileSync(path.join(folder, "job.xml"), job("1g"));
  const defaults = [
    { key: "tony.worker.vcores", value: "1", isMore: false },
    { key: "tony.worker.gpus", value: "0", isMore: false },
  ];
  expect(applySettings("job.xml", defaults, folder)).toEqual({
    written: [],
    kept: [
      { key: "tony.worker.vcores", value: "1" },
      { key: "tony.worker.gpus", value: "0" },
    ],
  });
  expect(readFileSync(path.join(folder, "job.xml"), "utf8")).toBe(job("1g"));
});

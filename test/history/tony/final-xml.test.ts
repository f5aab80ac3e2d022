import { expect, test } from "@jest/globals";
import { writeTonyFinalXml } from "../../../src/history/tony/final-xml.ts";
import { jobSpec, role } from "../../simulation/job.ts";
import { settings } from "../../support/settings.ts";

const resource = { memoryMiB: 2048, vcores: 3, others: { "yarn.io/gpu": 2 } };
const spec = { ...jobSpec([{ ...role("worker", 4), resource }]), name: "bert" };
const xml = writeTonyFinalXml(
  settings({ "tony.worker.memory": "2g", "tony.worker.instances": "4", "fs.s3a.secret.key": "hunter2" }),
  spec,
);
/** A key's value, and where it was made. */
const said = (key: string) =>
  new RegExp(`<name>${key}</name><value>(.*?)</value><final>false</final><source>(.*?)</source>`).exec(xml)?.slice(1);

test.each([
  ["tony.worker.memory", "2048m", "job.xml:1"],
  ["tony.worker.instances", "4", "job.xml:2"],
  ["tony.worker.vcores", "3", "default"],
  ["tony.worker.gpus", "2", "default"],
  ["tony.application.name", "bert", "default"],
  ["tony.yarn.queue", "default", "default"],
  ["fs.s3a.secret.key", "<redacted>", "job.xml:3"],
])("%s is written as %s, from %s", (key, value, source) => {
  expect(said(key)).toEqual([value.replaceAll("<", "&lt;").replaceAll(">", "&gt;"), source]);
});

test("what nobody has set and has no default is not written", () => {
  expect(xml).not.toContain("undefined");
  expect(said("tony.notify.url")).toBeUndefined();
});

import { expect, test } from "@jest/globals";
import { defaultName } from "../../../src/job/build/default-name.ts";
import { jobSpec, role } from "../../simulation/job.ts";

const named = (command: string, jobFile?: string) => {
  const spec = jobSpec([role("ps", 1), { ...role("worker", 2), command }]);
  return defaultName({ ...spec, leadTask: "worker:0" }, jobFile, "/home/ada/bert");
};

test.each([
  ["python3 -u src/train.py --lr 0.1", "train"],
  ["bash run.sh", "run"],
  ["./digits", "digits"],
])("a job without a name has that of its program: %s", (command, name) => {
  expect(named(command, "job.xml")).toBe(name);
});

test.each([
  ["job.xml", "bert"],
  ["jobs/large/job.xml", "large"],
  ["/srv/jobs/nightly/job.xml", "nightly"],
  ["hdfs:///jobs/weekly/job.xml", "weekly"],
])("where the program has none, it has that of its file's folder: %s", (jobFile, name) => {
  expect(named("python3 -m bert.train", jobFile)).toBe(name);
});

test("there is none where there is neither", () => {
  expect(named("true")).toBeUndefined();
  expect(named("true", "/job.xml")).toBeUndefined();
});

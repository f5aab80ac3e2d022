import { describe, expect, test } from "@jest/globals";
import { JobSpecError, parseJobSpec } from "../../../src/job/stored/parse-spec.ts";
import { specOf } from "../support.ts";

const spec = specOf({
  "tony.application.timeout": "1h",
  "tony.application.priority": "3",
  "tony.application.checkpoint-dir": "hdfs:///ckpt",
  "tony.worker.gpus": "1",
  "tony.worker.resources": "hdfs://nn/vocab.txt",
  "tony.am.port-range": "20000-20010",
  "tony.am.max-attempts": "4",
});

describe("reading a spec", () => {
  test("gives back what was written", () => {
    expect(parseJobSpec(JSON.stringify(spec))).toEqual(spec);
    expect(parseJobSpec(spec)).toEqual(spec);
  });

  test("drops what a newer program added", () => {
    expect(parseJobSpec({ ...spec, invention: 1 })).toEqual(spec);
  });

  test.each([
    ["not JSON", "{", /not JSON/],
    ["another version", { ...spec, specVersion: 1 }, "specVersion must be one of 2"],
    ["a missing field", { ...spec, queue: undefined }, "queue must be text"],
    ["a wrong word", { ...spec, distributedMode: "solo" }, "distributedMode must be one of gang, fcfs"],
    [
      "a wrong field of a role",
      { ...spec, roles: [{ ...spec.roles[0], instances: -1 }] },
      "roles[0].instances must be a whole number",
    ],
    ["no object", [], "the value must be an object"],
    ["a wrong optional field", { ...spec, priority: "high" }, "priority must be a whole number"],
  ])("refuses %s, naming it", (_what, json, message) => {
    expect(() => parseJobSpec(json)).toThrow(message);
    expect(() => parseJobSpec(json)).toThrow(JobSpecError);
  });
});

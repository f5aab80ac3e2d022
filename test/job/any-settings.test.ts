import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { buildJobSpec } from "../../src/job/build/build-spec.ts";
import { type KeyName, keyFor, keys } from "../../src/job/keys.ts";
import { mergeSettings } from "../../src/job/settings.ts";
import { parseJobSpec } from "../../src/job/stored/parse-spec.ts";
import { jobSettings, minimalJob } from "./support.ts";

const names = Object.keys(keys).filter((name): name is KeyName => name in keys);

/** Keys as people might write them: real ones of a few roles, broken ones, anything. */
const anyKey = fc.oneof(
  fc
    .tuple(fc.constantFrom(...names), fc.constantFrom("worker", "ps", "am", "tensorboard", "constructor"))
    .map(([name, role]) => keyFor(name, { role, group: "G", resource: "yarn.io/fpga", field: "date" })),
  fc.string().map((tail) => `tony.${tail}`),
  fc.constantFrom("tony.", "tony..", "tony.__proto__.instances", "tony.toString.memory", "yarn.x"),
);
const anyValue = fc.oneof(
  fc.constantFrom(
    "0",
    "1",
    "2",
    "-1",
    "2g",
    "5m",
    "true",
    "gang",
    "a,b",
    "A=1",
    "x::y",
    "x#archive",
    "::",
    "#",
    "${",
    "20000-20100",
  ),
  fc.string(),
);

test("any settings whatever make a spec that can be read back, or errors; nothing is thrown", () => {
  let made = 0;
  fc.assert(
    fc.property(fc.dictionary(anyKey, anyValue, { maxKeys: 12 }), (values) => {
      const { settings } = mergeSettings(jobSettings({ ...minimalJob, ...values }));
      const { spec, problems } = buildJobSpec(settings, { workingDirectory: "/home/ada", lookUp: () => "file" });
      expect(spec === undefined).toBe(problems.some((problem) => problem.severity === "error"));
      expect(spec && parseJobSpec(JSON.stringify(spec))).toEqual(spec);
      if (spec !== undefined) made += 1;
    }),
    { numRuns: 300 },
  );
  expect(made).toBeGreaterThan(0);
});

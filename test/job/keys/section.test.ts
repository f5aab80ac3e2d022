import { describe, expect, test } from "@jest/globals";
import { readRow } from "../../../src/job/build/read-settings.ts";
import { type KeyDefinition, key, type SpecSection } from "../../../src/job/keys/key.ts";
import { readSection, type SectionFields, sectionShape } from "../../../src/job/keys/section.ts";
import { duration, integer, list, oneOf, optionalDuration } from "../../../src/job/keys/types.ts";
import { keys } from "../../../src/job/keys.ts";
import { mergeSettings } from "../../../src/job/settings.ts";
import { jobSettings, specOf } from "../support.ts";

/** A table with keys that do not exist: each is a row and nothing else. */
const table = {
  "tony.nap.time": key({
    type: duration(),
    spec: ["timeouts", "napMs"],
    default: "5m",
    doc: "How long to nap.",
    support: "works",
  }),
  "tony.nap.limit": key({
    type: optionalDuration("s"),
    spec: ["timeouts", "limitMs"],
    default: "0",
    doc: "When to wake up.",
    support: "works",
  }),
  "tony.nap.count": key({ type: integer(), spec: ["timeouts", "naps"], doc: "How many.", support: "works" }),
  "tony.{role}.bed": key({
    type: oneOf("hard", "soft"),
    spec: ["role", "bed"],
    default: "hard",
    doc: "Which bed.",
    support: "works",
  }),
  "tony.nap.guests": key({ type: list, default: "", doc: "Who else.", support: "works" }),
};
type Naps = SectionFields<typeof table, "timeouts">;

function naps(written: Readonly<Record<string, string>>): Naps {
  const { settings } = mergeSettings(jobSettings(written));
  return readSection(table, "timeouts", (name) => readRow(settings, name, table[name]));
}

describe("a row of a table of keys", () => {
  test("gives its section of the spec a field of its type, there or absent as its default has it", () => {
    const least: Naps = { napMs: 300_000 };
    const all: Naps = { napMs: 1_000, limitMs: 90_000, naps: 3 };
    expect(naps({})).toEqual(least);
    expect(naps({ "tony.nap.time": "1s", "tony.nap.limit": "90", "tony.nap.count": "3" })).toEqual(all);
    // @ts-expect-error a field with a default is always there
    const without: Naps = { naps: 3 };
    expect(without).not.toHaveProperty("napMs");
  });

  test("lets the field be read back from JSON, and refuses what its type is not", () => {
    const read = sectionShape(table, "timeouts");
    const all = { napMs: 1_000, limitMs: 90_000, naps: 3 };
    expect(read(JSON.parse(JSON.stringify(all)), "timeouts")).toEqual(all);
    expect(read({ napMs: 0, more: 1 }, "timeouts")).toEqual({ napMs: 0 });
    expect(() => read({}, "timeouts")).toThrow("timeouts.napMs must be a whole number");
    expect(() => read({ napMs: 1, naps: "3" }, "timeouts")).toThrow("timeouts.naps must be a whole number");
    expect(() => sectionShape(table, "role")({ bed: "wet" }, "roles[0]")).toThrow(
      "roles[0].bed must be one of hard, soft",
    );
  });

  test("without a field of the spec gives it none", () => {
    expect(Object.values(sectionShape(table, "job")({ guests: [] }, ""))).toEqual([]);
  });
});

describe("the rows that fill fields of the spec", () => {
  const filling = Object.entries<KeyDefinition>(keys).flatMap(([name, { spec, type, default: preset }]) =>
    spec === undefined ? [] : [{ name, section: spec[0], field: spec[1], type, preset }],
  );

  test("fill one each", () => {
    const fields = filling.map(({ section, field }) => `${section}.${field}`);
    expect(new Set(fields).size).toBe(fields.length);
  });

  test.each(filling)("$name is in a job's spec, with its default where it has one", ({ section, field, ...row }) => {
    const spec = specOf({ "tony.output.local-dir": "results", "tony.output.dir": "hdfs:///results" });
    const sections: Record<SpecSection, object | undefined> = {
      job: spec,
      am: spec.am,
      role: spec.roles[0],
      carrier: spec.carrier,
      failure: spec.failure,
      "failure.budgets": spec.failure.budgets,
      "failure.backOff": spec.failure.backOff,
      "failure.blame": spec.failure.blame,
      timeouts: spec.timeouts,
      preemption: spec.preemption,
      ports: spec.ports,
      history: spec.history,
      logs: spec.logs,
      metrics: spec.metrics,
    };
    const { [field]: value } = { ...sections[section] } as Record<string, unknown>;
    expect(value).toEqual(row.preset === undefined ? undefined : row.type.parse(row.preset));
  });
});

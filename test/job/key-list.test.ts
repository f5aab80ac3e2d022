import { describe, expect, test } from "@jest/globals";
import { effectiveKeys, listKeys } from "../../src/job/key-list.ts";
import { keys } from "../../src/job/keys.ts";
import { mergeSettings } from "../../src/job/settings.ts";
import { jobSettings, optionSetting } from "./support.ts";

describe("the list of keys", () => {
  test("has every key of the table", () => {
    expect(listKeys().map(({ key }) => key)).toEqual(Object.keys(keys));
  });

  test("of a job names where each value was set, then the defaults, those of its roles too", () => {
    const { settings } = mergeSettings([
      ...jobSettings({ "tony.trainer.instances": "2", "tony.trainer.memory": "4g" }),
      optionSetting("tony.trainer.memory", "8g"),
    ]);
    const listed = effectiveKeys(settings).map(({ key, value, at }) => `${key} = ${value} (${at ?? "default"})`);
    expect(listed.slice(0, 2)).toEqual(["tony.trainer.instances = 2 (job.xml:1)", "tony.trainer.memory = 8g (-conf)"]);
    expect(listed).toContain("tony.trainer.vcores = 1 (default)");
    expect(listed).toContain("tony.am.memory = 1g (default)");
    expect(listed.filter((line) => line.startsWith("tony.trainer.memory"))).toHaveLength(1);
  });
});

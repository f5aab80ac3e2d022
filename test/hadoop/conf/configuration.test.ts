import { describe, expect, test } from "@jest/globals";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";

const variables = { environment: { WHERE: "here" }, systemProperties: { "user.name": "ada" } };

function configuration(values: Record<string, string> = {}): Configuration {
  return new Configuration(variables).withValues(values);
}

describe("values", () => {
  test("are expanded from the environment, system properties and other keys, and trimmed", () => {
    const conf = configuration({ "x.y": " ${env.WHERE}/${user.name}/${z} ", z: "end" });
    expect(conf.get("x.y")).toBe("here/ada/end");
    expect(conf.getRaw("x.y")).toBe(" ${env.WHERE}/${user.name}/${z} ");
  });

  test("fall back on Hadoop's defaults, which follow what the site sets", () => {
    expect(configuration().get("yarn.resourcemanager.address")).toBe("0.0.0.0:8032");
    expect(configuration({ "yarn.resourcemanager.hostname": "rm" }).getAddress("yarn.resourcemanager.address")).toEqual(
      {
        host: "rm",
        port: 8032,
      },
    );
    expect(configuration().has("yarn.resourcemanager.address")).toBe(false);
  });

  test("a name of old sites and its successor are one key", () => {
    const conf = configuration({ "fs.default.name": "hdfs://nn:8020" });
    expect([conf.get("fs.defaultFS"), conf.get("fs.default.name")]).toEqual(["hdfs://nn:8020", "hdfs://nn:8020"]);
  });

  test("a loop of references is an error that names the key", () => {
    expect(() => configuration({ a: "${b}", b: "${a}" }).get("a")).toThrow("a needs more than 20 substitutions: ${b}");
  });

  test("typed getters read their type, fall back when absent or empty, and name the place of what does not fit", () => {
    const conf = configuration().with([
      { name: "n", value: "12" },
      { name: "t", value: "2m" },
      { name: "s", value: "1k" },
      { name: "bad", value: "x", file: "core-site.xml", line: 7 },
      { name: "empty", value: "" },
    ]);
    expect([conf.getInteger("n"), conf.getDurationMs("t", "s"), conf.getSizeBytes("s")]).toEqual([12, 120_000, 1024]);
    expect([conf.getInteger("none"), conf.getInteger("none", 3), conf.getInteger("empty", 4)]).toEqual([
      undefined,
      3,
      4,
    ]);
    expect(() => conf.getInteger("bad")).toThrow('core-site.xml:7: bad must be a whole number, not "x"');
    expect(() => conf.require("empty")).toThrow("empty is not set");
  });

  test("a boolean is true or false and anything else the fallback", () => {
    const conf = configuration({ a: "TRUE", b: "false", c: "yes" });
    expect([conf.getBoolean("a", false), conf.getBoolean("b", true), conf.getBoolean("c", true)]).toEqual([
      true,
      false,
      true,
    ]);
  });

  test("what is final is kept, and each attempt to change it is noted", () => {
    const final = { name: "a", value: "1", final: true, file: "core-site.xml", line: 3 };
    const conf = configuration().with([final]).withValues({ a: "1", b: "2" });
    expect(conf.refused).toEqual([]);
    const changed = conf
      .with([
        { name: "a", value: "2" },
        { name: "a", value: undefined },
      ])
      .withValues({ a: "3" });
    expect([changed.get("a"), changed.get("b")]).toEqual(["1", "2"]);
    expect(changed.refused).toEqual([
      { setting: { name: "a", value: "2" }, keeps: final },
      { setting: { name: "a", value: "3" }, keeps: final },
    ]);
    expect(conf.refused).toEqual([]);
  });

  test("a key without a value changes nothing; declared final it never has one", () => {
    const conf = configuration({ a: "1" }).with([{ name: "a", value: undefined }]);
    expect(conf.withValues({ a: "2" }).get("a")).toBe("2");
    const none = configuration()
      .with([{ name: "b", value: undefined, final: true }])
      .withValues({ b: "2" });
    expect([none.get("b"), none.has("b"), none.values()]).toEqual([undefined, false, {}]);
    expect(none.refused).toEqual([{ setting: { name: "b", value: "2" }, keeps: { name: "b", final: true } }]);
  });

  test("a value has a place where a file set it, which errors and descriptions name", () => {
    const conf = configuration({ own: "1" }).with([
      { name: "a", value: "1", file: "core-site.xml", line: 7 },
      { name: "half", value: "1", file: "core-site.xml" },
      { name: "fs.default.name", value: "x", file: "core-site.xml", line: 9 },
      { name: "empty", value: "", file: "core-site.xml", line: 11 },
    ]);
    expect(conf.locate("a")).toEqual({ file: "core-site.xml", line: 7 });
    expect(conf.locate("fs.defaultFS")).toEqual({ file: "core-site.xml", line: 9 });
    expect([conf.locate("own"), conf.locate("half"), conf.locate("none")]).toEqual([undefined, undefined, undefined]);
    expect([conf.describe("a"), conf.describe("own")]).toEqual(["a (core-site.xml:7)", "own"]);
    expect(conf.invalid("a", "is odd")).toMatchObject({
      ...{ code: "CONFIGURATION_INVALID", problem: "a is odd", message: "core-site.xml:7: a is odd" },
      location: { file: "core-site.xml", line: 7 },
    });
    expect(conf.invalid("own", "is odd", "CONFIGURATION_MISSING")).toMatchObject({
      ...{ code: "CONFIGURATION_MISSING", message: "own is odd", location: undefined },
    });
    expect(() => conf.require("empty")).toThrow(
      expect.objectContaining({ code: "CONFIGURATION_MISSING", message: "core-site.xml:11: empty is not set" }),
    );
    expect(() => conf.require("none")).toThrow("none is not set");
    expect(conf.require("a")).toBe("1");
    expect([conf.has("a"), conf.has("fs.defaultFS"), conf.has("none")]).toEqual([true, true, false]);
  });

  test("of each type fall back, and name what is wanted", () => {
    const conf = configuration({ bad: "x", list: " a,,b " });
    expect([conf.getDurationMs("none", "s", 7), conf.getSizeBytes("none", 8), conf.getAddress("none")]).toEqual([
      7,
      8,
      undefined,
    ]);
    expect([conf.getList("list"), conf.getList("none")]).toEqual([["a", "b"], []]);
    expect(() => conf.getDurationMs("bad", "s")).toThrow('bad must be a duration such as 30s or 5m, not "x"');
    expect(() => conf.getSizeBytes("bad")).toThrow('bad must be a size such as 128m or 1gb, not "x"');
    expect(() => conf.getAddress("bad")).toThrow('bad must be host:port, not "x"');
    expect(conf.getAddress("bad", 5)).toEqual({ host: "x", port: 5 });
  });

  test("a key declared final without a value keeps what it had", () => {
    const conf = configuration({ a: "1" }).with([{ name: "a", value: undefined, final: true }]);
    expect(conf.withValues({ a: "2" }).get("a")).toBe("1");
  });

  test("all that was set is handed on expanded, without the defaults, and what cannot be expanded as written", () => {
    const conf = configuration({ a: "${env.WHERE}", loop: "${pool}", pool: "${loop}" });
    expect(conf.values()).toEqual({ a: "here", loop: "${pool}", pool: "${loop}" });
  });

  test("a name that every object has is no key, property or variable", () => {
    const conf = configuration({ a: "${constructor}", b: "${env.constructor}" }).withValues({ constructor: "own" });
    expect(conf.get("a")).toBe("own");
    expect(conf.get("b")).toBe("${env.constructor}");
    expect(configuration({ a: "${toString}" }).get("a")).toBe("${toString}");
    expect(conf.get("valueOf")).toBeUndefined();
  });

  test("a layer leaves the configuration it was put on as it is", () => {
    const base = configuration({ a: "1" });
    base.withValues({ a: "2" });
    expect(base.get("a")).toBe("1");
  });
});

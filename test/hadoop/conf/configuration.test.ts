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

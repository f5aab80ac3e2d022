import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { loadConfiguration } from "../../../src/hadoop/conf/site-files.ts";

const variables = { environment: { WHERE: "here" }, systemProperties: { "user.name": "ada" } };

describe("the configuration folder", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "conf-"));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  function site(name: string, ...properties: string[]): void {
    writeFileSync(join(directory, name), `<configuration>\n${properties.join("\n")}\n</configuration>\n`);
  }

  test("later files win, final keys keep their value, and each value knows its place", () => {
    site("core-site.xml", '<property name="a" value="core" final="true"/>', '<property name="b" value="core"/>');
    site("yarn-site.xml", '<property name="a" value="yarn"/>', '<property name="b" value="yarn"/>');
    const loaded = loadConfiguration(directory, variables);
    expect([loaded.get("a"), loaded.get("b")]).toEqual(["core", "yarn"]);
    expect(loaded.locate("b")).toEqual({ file: join(directory, "yarn-site.xml"), line: 3 });
    expect(loaded.refused).toMatchObject([
      { setting: { name: "a", value: "yarn", line: 2 }, keeps: { value: "core" } },
    ]);
  });

  test("a property without a name is passed over", () => {
    site("core-site.xml", "<property><value>1</value></property>", '<property name="b" value="2"/>');
    expect(loadConfiguration(directory, variables).get("b")).toBe("2");
  });

  test("a folder without site files, one that is not there, and a file in its place say what to set", () => {
    expect(() => loadConfiguration(directory)).toThrow(/holds no core-site\.xml.*set HADOOP_CONF_DIR/);
    expect(() => loadConfiguration(join(directory, "none"))).toThrow(
      /none cannot be read: ENOENT.*; set HADOOP_CONF_DIR/,
    );
    site("core-site.xml");
    expect(() => loadConfiguration(join(directory, "core-site.xml"))).toThrow(
      /core-site\.xml is a file; set HADOOP_CONF_DIR to the folder with it$/,
    );
  });

  test("each file is taken from the first of several folders that has it, and one folder may be missing", () => {
    const second = join(directory, "second");
    mkdirSync(second);
    site("core-site.xml", '<property name="a" value="first"/>');
    writeFileSync(join(second, "core-site.xml"), '<configuration><property name="a" value="second"/></configuration>');
    writeFileSync(join(second, "yarn-site.xml"), '<configuration><property name="b" value="second"/></configuration>');
    for (const path of [
      `${directory}:${second}`,
      `${directory}::${second}:`,
      `${directory}/none:${directory}:${second}`,
    ]) {
      const loaded = loadConfiguration(path, variables);
      expect([loaded.get("a"), loaded.get("b")]).toEqual(["first", "second"]);
    }
    expect(() => loadConfiguration(`${directory}/none:${directory}/nor`)).toThrow(/none cannot be read: ENOENT/);
  });

  test("a malformed file is named with its line", () => {
    writeFileSync(join(directory, "hdfs-site.xml"), "<configuration>\n<oops</configuration>");
    expect(() => loadConfiguration(directory)).toThrow(/hdfs-site\.xml:2: not well-formed XML/);
  });
});

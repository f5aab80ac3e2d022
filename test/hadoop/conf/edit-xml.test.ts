import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "@jest/globals";
import { withValues } from "../../../src/hadoop/conf/edit-xml.ts";
import { parseProperties } from "../../../src/hadoop/conf/xml.ts";

function edited(text: string, ...values: readonly (readonly [string, string])[]): string {
  return withValues(text, "job.xml", new Map(values));
}

describe("other values of a configuration file", () => {
  test("leave everything else as it is", () => {
    const text = [
      '<?xml version="1.0"?>',
      "<!-- <property><name>tony.worker.memory</name><value>1g</value></property> -->",
      "<configuration>",
      "  <property> <!-- as the model grew -->",
      "\t<name> tony.worker.memory </name>",
      "\t<value>16g</value><final>true</final>",
      "  </property>",
      "  <property name=\"tony.worker.vcores\"   value = '8'/>",
      "  <property><value>a &amp; b</value><name>tony.worker.command</name></property>",
      "</configuration>",
      "",
    ].join("\n");
    const expected = text.replace(">16g<", ">9g<").replace("value = '8'", 'value = "3"');
    expect(edited(text, ["tony.worker.memory", "9g"], ["tony.worker.vcores", "3"])).toBe(expected);
  });

  test("are those of the property that counts, the last of several", () => {
    const one = (value: string) => `<property><name>a</name><value>${value}</value></property>`;
    const text = (last: string) => `<configuration>${one("1")}${one(last)}</configuration>`;
    expect(edited(text("2"), ["a", "3"])).toBe(text("3"));
  });

  test("are added in the file's own layout where there is none", () => {
    const text = "<configuration>\r\n    <property><name>a</name><value>1</value></property>\r\n</configuration>\r\n";
    expect(edited(text, ["b", "<2>"])).toBe(
      text.replace(
        "</configuration>",
        "    <property><name>b</name><value>&lt;2&gt;</value></property>\r\n</configuration>",
      ),
    );
    const comment = "<!-- <property></property> -->";
    expect(edited(`<configuration>\n</configuration>\n${comment}`, ["b", "2"])).toBe(
      `<configuration>\n  <property><name>b</name><value>2</value></property>\n</configuration>\n${comment}`,
    );
  });

  test("fill a value that is empty", () => {
    const text = (value: string) => `<configuration><property><name>a</name>${value}</property></configuration>`;
    expect(edited(text("<value/>"), ["a", "1"])).toBe(text("<value>1</value>"));
    expect(edited(text("<value></value>"), ["a", "1"])).toBe(text("<value>1</value>"));
    expect(edited(text("<value><![CDATA[0]]></value>"), ["a", "1"])).toBe(text("<value>1</value>"));
  });

  test("come last where another file, which is included, has the last word", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "tony-edit-"));
    writeFileSync(
      path.join(folder, "site.xml"),
      "<configuration><property><name>a</name><value>1</value></property></configuration>",
    );
    const text = '<configuration>\n  <property name="a" value="0"/>\n  <include href="site.xml"/>\n</configuration>\n';
    const after = withValues(text, path.join(folder, "job.xml"), new Map([["a", "2"]]));
    expect(parseProperties(after, path.join(folder, "job.xml")).at(-1)).toMatchObject({ name: "a", value: "2" });
    rmSync(folder, { recursive: true });
  });

  test("are not put into what is no configuration", () => {
    expect(() => edited("<project></project>", ["a", "1"])).toThrow("starts with <configuration>");
    expect(() => edited("<configuration>", ["a", "1"])).toThrow("job.xml");
  });
});

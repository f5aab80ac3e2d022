import { describe, expect, test } from "@jest/globals";
import { migrateFlowDocument } from "../../../client/migration/azkaban-flow.ts";

describe("a flow of Azkaban's Flow 2.0", () => {
  test("stays as it is but for the type of TonY's nodes, what is renamed, and what has no meaning", () => {
    const before = [
      "---",
      "# for all",
      "config:",
      "  user.to.proxy: ada",
      "  tony.default.jvm.opts: -Xmx1g  # of the JVM",
      "nodes:",
      "# prepares",
      "- name: prepare",
      "  type: command",
      "  config:",
      "    command: echo 'tony.task.heartbeat-interval'",
      "    tony.task.heartbeat-interval: 1",
      "- name: train   # the training",
      "  type: TonYJob",
      "  dependsOn:",
      "  - prepare",
      "  config:",
      "    tony.worker.instances: 4",
      "    hdfs_classpath: |",
      "      /lib",
      '    "tony.task.heartbeat-interval": 2000',
      "    worker_env.RATE: 0.1",
      "",
    ];
    const migrated = migrateFlowDocument(before.join("\n"), "x.flow");
    expect(migrated?.text.split("\n")).toEqual([
      "---",
      "# for all",
      "config:",
      "  user.to.proxy: ada",
      "nodes:",
      "# prepares",
      "- name: prepare",
      "  type: command",
      "  config:",
      "    command: echo 'tony.task.heartbeat-interval'",
      "    tony.task.heartbeat-interval: 1",
      "- name: train   # the training",
      "  type: tony-ts",
      "  dependsOn:",
      "  - prepare",
      "  config:",
      "    tony.worker.instances: 4",
      "    hdfs_classpath: |",
      "      /lib",
      '    "tony.task.heartbeat-interval-ms": 2000',
      "    worker_env.RATE: 0.1",
      "",
    ]);
    expect(migrated?.remarks.map(({ at, kind }) => `${at} ${kind}`)).toEqual([
      "x.flow:4 stays",
      "x.flow:5 no-meaning",
      "x.flow:14 changes",
      "x.flow:18 stays",
      "x.flow:19 stays",
      "x.flow:21 changes",
      "x.flow:22 stays",
    ]);
  });

  test("may have flows in it, and mappings in braces", () => {
    const text = (type: string, config: string) =>
      `nodes:\n- {name: a, type: flow, nodes: [{name: b, type: ${type}, config: {${config}}}]}\n`;
    const jvm = "tony.default.jvm.opts: -Xmx1g";
    const one = "tony.worker.instances: 1";
    const migrated = (config: string) => migrateFlowDocument(text("tonyjob", config), "x.flow")?.text;
    expect(migrated(`${jvm}, ${one}`)).toBe(text("tony-ts", one));
    expect(migrated(`${one}, ${jvm}`)).toBe(text("tony-ts", one));
    expect(migrated(jvm)).toBe(text("tony-ts", ""));
  });

  test("is whole where what has no meaning stands beside its like, and at an end without a line end", () => {
    const jvm = "      tony.default.jvm.opts: -Xmx1g";
    const one = "      tony.worker.instances: 1";
    const text = (type: string, ...config: readonly string[]) =>
      ["nodes:", "  - name: a", `    type: ${type}`, "    config:", ...config].join("\n");
    const migrated = (...config: readonly string[]) => migrateFlowDocument(text("tonyjob", ...config), "x.flow")?.text;
    expect(migrated(one, jvm)).toBe(`${text("tony-ts", one)}\n`);
    const braces = (type: string, config: string) => `nodes:\n- {name: b, type: ${type}, config: {${config}}}\n`;
    const meaningless = "tony.default.jvm.opts: -Xmx1g, tony.worker.jvm.opts: -Xmx2g";
    for (const config of [`tony.worker.instances: 1, ${meaningless}`, `${meaningless}, tony.worker.instances: 1`])
      expect(migrateFlowDocument(braces("tonyjob", config), "x.flow")?.text).toBe(
        braces("tony-ts", "tony.worker.instances: 1"),
      );
  });

  test("may have its configuration before its type, and text of several lines", () => {
    const text = (type: string, ...config: readonly string[]) =>
      ["nodes:", "- name: a", "  config:", ...config, `  type: ${type}`, ""].join("\n");
    const kept = "    tony.worker.instances: 1";
    const meaningless = ["    tony.default.jvm.opts: |", "      -Xmx1g", "      -Xms1g"];
    const migrated = migrateFlowDocument(text("TonYJob", ...meaningless, kept), "x.flow");
    expect(migrated?.text).toBe(text("tony-ts", kept));
    expect(migrated?.remarks[0]).toEqual({ kind: "changes", at: "x.flow:8", message: "type becomes tony-ts" });
  });

  test("without any property left has an empty mapping", () => {
    const text =
      "nodes:\n  - name: a\n    type: TonYJob\n    config:\n      tony.default.jvm.opts: -Xmx1g\n  - name: b\n    type: noop\n";
    expect(migrateFlowDocument(text, "x.flow")?.text).toBe(
      "nodes:\n  - name: a\n    type: tony-ts\n    config:\n      {}\n  - name: b\n    type: noop\n",
    );
  });

  test.each([
    ["nodes:\n- name: a\n  type: spark\n"],
    ["# no TonYJob any more\nnodes:\n- {name: a, type: tony-ts}\n"],
    ["TonYJob\n"],
  ])("%j has none of TonY's", (text) => {
    expect(migrateFlowDocument(text, "x.flow")).toBeUndefined();
  });

  test("that is no YAML names the line", () => {
    expect(() => migrateFlowDocument("nodes:\n- type: TonYJob\n  config: [\n", "x.flow")).toThrow(
      expect.objectContaining({
        code: "CONFIGURATION_MALFORMED",
        message: expect.stringMatching(/^x\.flow:\d/),
      }),
    );
  });
});

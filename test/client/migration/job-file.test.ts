import { expect, test } from "@jest/globals";
import { isJobFile, migrateJobFile } from "../../../client/migration/job-file.ts";

test("what Hadoop does not read of a job's file is said with its line, and only the rest is written", () => {
  const job = `<configuration>
  <property><value>1g</value></property>
  <property><name>tony.worker.memory</name><value>1g</value><value>2g</value></property>
</configuration>`;
  const { text, remarks } = migrateJobFile(job, "tony.xml", () => undefined);
  expect(remarks).toEqual(
    expect.arrayContaining([
      { kind: "no-meaning", at: "tony.xml:2", message: "this <property> has no effect: it has no <name>" },
      { kind: "no-meaning", at: "tony.xml:3", message: expect.stringContaining("a second <value>") },
    ]),
  );
  expect(remarks[0]).toEqual({ kind: "stays", at: "tony.xml:3", message: "tony.worker.memory" });
  expect(text).toContain("<value>2g</value>");
  expect(text).not.toContain("<value>1g</value>");
});

const property = (name: string, value: string) => `<property><name>${name}</name><value>${value}</value></property>`;

test("what an included file says takes the place of its include, and what has no meaning is not written", () => {
  const job = `<configuration xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="more.xml"/>${property("tony.task.am.jvm.opts", "-Xss1m")}</configuration>`;
  const more = `<configuration>${property("tony.worker.command", "train")}</configuration>`;
  const { text, hasCommand } = migrateJobFile(job, "tony.xml", (file) =>
    file.endsWith("more.xml") ? more : undefined,
  );
  expect(text).toContain("<name>tony.worker.command</name>");
  expect(text).not.toContain("jvm.opts");
  expect(hasCommand).toBe(true);
});

test("that a failed worker fails the job is said, unless the job says what it does", () => {
  const said = (...properties: readonly string[]) =>
    migrateJobFile(`<configuration>${properties.join("")}</configuration>`, "tony.xml", () => undefined).remarks.filter(
      ({ message }) => message.startsWith("a failed worker"),
    );
  const key = "tony.application.fail-on-worker-failure-enabled";
  const instances = property("tony.worker.instances", "2");
  expect(said(instances)).toEqual([
    {
      kind: "changes",
      at: "tony.xml",
      message: `a failed worker fails the job; ${key} = false lets it succeed as in TonY`,
    },
  ]);
  expect(said(instances, property(key, "false"))).toEqual([]);
});

test("a job's file is a Hadoop configuration with settings of TonY's", () => {
  const setting = "<property><name> tony.worker.instances</name></property>";
  expect(isJobFile(`<configuration>${setting}</configuration>`)).toBe(true);
  expect([
    isJobFile(setting),
    isJobFile("<configuration/>"),
    isJobFile("<configurations>tony.</configurations>"),
  ]).toEqual([false, false, false]);
});

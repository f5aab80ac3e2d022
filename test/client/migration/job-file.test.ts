import { expect, test } from "@jest/globals";
import { migrateJobFile } from "../../../client/migration/job-file.ts";

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
  expect(text).toContain("<value>2g</value>");
  expect(text).not.toContain("<value>1g</value>");
});

import { expect, test } from "@jest/globals";
import { virtualMemoryFindings } from "../../../client/submission/doctor-settings.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";

test("that nodes limit virtual memory is a remark, with the key that ends it", () => {
  const findings = (values: Record<string, string>) => virtualMemoryFindings(new Configuration().withValues(values));
  expect(findings({ "yarn.nodemanager.vmem-check-enabled": "false" })).toEqual([]);
  expect(findings({})).toMatchObject([
    {
      state: "remark",
      found: expect.stringContaining("more than 2.1 times their memory"),
      remedy: expect.stringContaining("set yarn.nodemanager.vmem-check-enabled to false"),
    },
  ]);
});

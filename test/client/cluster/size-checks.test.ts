import { expect, test } from "@jest/globals";
import { configuredMaximum } from "../../../client/cluster/size-checks.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";

test("of the largest container that is known which is written here, and of no kind what Hadoop has by default", () => {
  const configured = (values: Readonly<Record<string, string>>) =>
    configuredMaximum(new Configuration().withValues(values));
  const [memory, cores] = ["yarn.scheduler.maximum-allocation-mb", "yarn.scheduler.maximum-allocation-vcores"];
  expect(configured({})).toEqual({});
  expect(configured({ [memory]: "4096" })).toEqual({ memoryMiB: 4096 });
  expect(configured({ [cores]: "16" })).toEqual({ vcores: 16 });
});

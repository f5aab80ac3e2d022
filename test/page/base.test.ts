import { expect, test } from "@jest/globals";
import { base } from "../../page/base.ts";

test.each([
  ["/proxy/application_1_0001/", "/proxy/application_1_0001/"],
  ["/proxy/application_1_0001", "/proxy/application_1_0001/"],
  ["/gateway/proxy/history/yarn/proxy/application_1_0001", "/gateway/proxy/history/yarn/proxy/application_1_0001/"],
  ["/application_9_0009/proxy/application_1_0001/x/y", "/application_9_0009/proxy/application_1_0001/"],
  ["/", "/"],
  ["/jobs/page.html", "/jobs/"],
])("a page at %s asks below %s", (path, folder) => {
  expect(base(path)).toBe(folder);
});

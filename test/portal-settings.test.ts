import { expect, test } from "@jest/globals";
import { type PortalSettings, readPortalSettings } from "../src/portal-settings.ts";

const settings: PortalSettings = {
  port: 19_886,
  configurationFolder: "/etc/hadoop/conf",
  hadoop: { "dfs.replication": "1" },
  login: { principal: "portal@EXAMPLE.COM", keytab: "/etc/portal.keytab" },
  history: { timeZone: "UTC", location: "hdfs:///shared/tony-history" },
  prices: { gpuHourPrice: 1.9, currency: "EUR" },
};

test("the portal gets its settings as they are, and refuses others", () => {
  expect(readPortalSettings(JSON.parse(JSON.stringify(settings)), "")).toEqual(settings);
  expect(() => readPortalSettings({ ...settings, port: "x" }, "")).toThrow("port must be a whole number");
});

import { expect, test } from "@jest/globals";
import { clearTextFindings, clearTextProblems, keytabProblems } from "../../../client/cluster/clear-text.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";

test.each([
  ["privacy", []],
  ["authentication", ["error"]],
  ["integrity", ["error"]],
  ["privacy,authentication", ["error"]],
  [undefined, ["error"]],
])("a secured cluster with hadoop.rpc.protection=%s", (protection, severities) => {
  const values = protection === undefined ? {} : { "hadoop.rpc.protection": protection };
  const configuration = new Configuration().withValues(values);
  expect(clearTextProblems(configuration, false).map(({ severity }) => severity)).toEqual(severities);
  const accepted = clearTextProblems(configuration, true).map(({ severity }) => severity);
  expect(accepted).toEqual(severities.map(() => "warning"));
});

test("says what to set", () => {
  const configuration = new Configuration().withValues({ "hadoop.rpc.protection": "integrity" });
  const [problem] = clearTextProblems(configuration, false);
  expect(problem?.message).toContain("set it to privacy, or accept that with tony.security.allow-cleartext=true");
  expect(problem?.at).toContain("hadoop.rpc.protection");
});

test("doctor remarks it before there is a job, on a secured cluster alone", () => {
  const configured = (protection: string) => new Configuration().withValues({ "hadoop.rpc.protection": protection });
  const open = configured("integrity");
  expect(clearTextFindings({ isSecured: true, configuration: open })).toMatchObject([
    { subject: "protection", state: "remark", remedy: expect.stringContaining("tony.security.allow-cleartext=true") },
  ]);
  expect(clearTextFindings({ isSecured: false, configuration: open })).toEqual([]);
  expect(clearTextFindings({ isSecured: true, configuration: configured("privacy") })).toEqual([]);
});

test.each([
  ["HTTPS_ONLY", undefined, []],
  ["HTTP_ONLY", undefined, ["error"]],
  [undefined, undefined, ["error"]],
  ["HTTP_ONLY", "https://gateway:14000", []],
  ["HTTPS_ONLY", "http://gateway:14000", ["error"]],
])("a keytab that goes by dfs.http.policy=%s, or the gateway %s", (policy, gateway, severities) => {
  const configuration = new Configuration().withValues(policy === undefined ? {} : { "dfs.http.policy": policy });
  const found = (isAccepted: boolean) => keytabProblems({ configuration, gateway }, isAccepted);
  expect(found(false).map(({ severity }) => severity)).toEqual(severities);
  expect(found(true).map(({ severity }) => severity)).toEqual(severities.map(() => "warning"));
});

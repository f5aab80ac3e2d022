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

test("says what to set, and what is accepted otherwise", () => {
  const configuration = new Configuration().withValues({ "hadoop.rpc.protection": "integrity" });
  const consequence = "lets RPC travel unencrypted, and with it the job's key and your delegation tokens";
  const mend = "set it to privacy, or accept that with tony.security.allow-cleartext=true";
  const at = "hadoop.rpc.protection";
  expect(clearTextProblems(configuration, false)).toEqual([
    { severity: "error", message: `${consequence}: ${mend}`, at },
  ]);
  expect(clearTextProblems(configuration, true)).toEqual([{ severity: "warning", message: consequence, at }]);
});

test("doctor remarks it before there is a job, on a secured cluster alone", () => {
  const configured = (protection: string) => new Configuration().withValues({ "hadoop.rpc.protection": protection });
  const open = configured("integrity");
  expect(clearTextFindings({ isSecured: true, configuration: open })).toMatchObject([
    {
      ...{ subject: "protection", state: "remark" },
      found: expect.stringMatching(/^hadoop\.rpc\.protection lets RPC travel unencrypted, /),
      remedy: "set it to privacy, or accept that with tony.security.allow-cleartext=true",
    },
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

test("of a keytab says which address it would travel to, and what to do instead", () => {
  const configuration = new Configuration();
  const message = "lets WebHDFS travel unencrypted, and with it the keytab that tony.kerberos.ship-keytab sends";
  const instead = "use HTTPS there, or accept that with tony.security.allow-cleartext=true";
  const found = (gateway: string | undefined, isAccepted: boolean) =>
    keytabProblems({ configuration, gateway }, isAccepted);
  expect(found(undefined, false)).toEqual([
    { severity: "error", message: `${message}: ${instead}`, at: "dfs.http.policy" },
  ]);
  expect(found("http://gateway:14000", true)).toEqual([
    { severity: "warning", message, at: "tony.hdfs.endpoint=http://gateway:14000" },
  ]);
});

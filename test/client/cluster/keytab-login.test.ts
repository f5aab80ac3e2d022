import { expect, test } from "@jest/globals";
import { keytabLogin } from "../../../client/cluster/keytab-login.ts";
import { settings } from "../../support/settings.ts";

test("a keytab and whose it is are a login; neither is none", () => {
  const both = { "tony.kerberos.keytab": "/k/alice.keytab", "tony.kerberos.principal": "alice@EXAMPLE.COM" };
  expect(keytabLogin(settings(both))).toEqual({ keytab: "/k/alice.keytab", principal: "alice@EXAMPLE.COM" });
  expect(keytabLogin(settings({}))).toBeUndefined();
});

test("a keytab of nobody is refused, and the error says where it is named", () => {
  expect(() => keytabLogin(settings({ "tony.kerberos.keytab": "/k" }))).toThrow(
    expect.objectContaining({
      ...{ name: "UserError", code: "JOB_INVALID" },
      message: expect.stringMatching(
        /^job.xml:1: tony.kerberos.keytab needs tony.kerberos.principal, .*; klist -kt \/k shows/,
      ),
    }),
  );
});

import { expect, test } from "@jest/globals";
import { keytabLogin } from "../../../client/cluster/keytab-login.ts";
import { settings } from "../../support/settings.ts";

test("a keytab and whose it is are a login; neither is none", () => {
  const both = { "tony.keytab.location": "/k/alice.keytab", "tony.keytab.user": "alice@EXAMPLE.COM" };
  expect(keytabLogin(settings(both))).toEqual({ keytab: "/k/alice.keytab", principal: "alice@EXAMPLE.COM" });
  expect(keytabLogin(settings({}))).toBeUndefined();
});

test("a keytab of nobody is refused, and the error says where it is named", () => {
  expect(() => keytabLogin(settings({ "tony.keytab.location": "/k" }))).toThrow(
    /^job.xml:1: tony.keytab.location needs tony.keytab.user/,
  );
});

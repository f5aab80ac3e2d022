import { expect, test } from "@jest/globals";
import { kerberosFindings } from "../../../client/cluster/kerberos-finding.ts";
import type { KeytabLogin } from "../../../src/hadoop/security/kerberos/gss-api.ts";

/** A login whose ticket has so long to go. */
const login = (remainingSeconds: number, keytab?: KeytabLogin) => ({
  keytab,
  credential: async () => ({ principal: "alice@EXAMPLE.COM", remainingSeconds }),
});

test.each([
  [86_000, "well", "the ticket of alice@EXAMPLE.COM is valid for another 23 h 53 min"],
  [3_599, "remark", "the ticket of alice@EXAMPLE.COM is valid for another 59 min 59 s"],
])("a ticket with %i s to go: %s", async (seconds, state, found) => {
  expect(await kerberosFindings({ login: login(seconds) })).toMatchObject([{ subject: "Kerberos", state, found }]);
});

test("a keytab's ticket is renewed in time", async () => {
  const keytab = { principal: "alice@EXAMPLE.COM", keytab: "/k/alice.keytab" };
  expect(await kerberosFindings({ login: login(10, keytab) })).toMatchObject([{ state: "well" }]);
});

test("where one does not log in by Kerberos there is nothing to say", async () => {
  expect(await kerberosFindings({ login: undefined })).toEqual([]);
});

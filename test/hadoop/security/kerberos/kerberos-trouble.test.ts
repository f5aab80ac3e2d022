import { describe, expect, test } from "@jest/globals";
import { AuthenticationError } from "../../../../src/hadoop/security/errors.ts";
import { kerberosError, refusedTicket } from "../../../../src/hadoop/security/kerberos/kerberos-trouble.ts";

const login = { principal: "alice@EXAMPLE.COM", keytab: "/k/alice.keytab" };
const server = "rm/host@EXAMPLE.COM";

test.each([
  ["No credentials were supplied: No Kerberos credentials available", {}, "KERBEROS_NO_TICKET", /^ {2}kinit/m],
  ["unavailable: SPNEGO cannot find mechanisms to negotiate", {}, "KERBEROS_NO_TICKET", /^ {2}kinit/m],
  ["The referenced credential has expired", {}, "KERBEROS_TICKET_EXPIRED", /^ {2}kinit/m],
  ["Ticket expired", { login }, "KERBEROS_TICKET_EXPIRED", /kinit -kt \/k\/alice.keytab alice@EXAMPLE.COM/],
  ["Unspecified GSS failure: Clock skew too great", {}, "KERBEROS_CLOCK_SKEW", /timedatectl/],
  [
    "Server not found in Kerberos database",
    { server },
    "KERBEROS_SERVER",
    /does not know the server rm\/host@EXAMPLE.COM/,
  ],
  [
    "Client 'alice@EXAMPLE.COM' not found in Kerberos database",
    { login },
    "KERBEROS_REALM",
    /does not know alice@EXAMPLE.COM/,
  ],
  ['Cannot find KDC for realm "EXAMPLE.COM"', {}, "KERBEROS_REALM", /krb5.conf/],
  ["Cannot contact any KDC for realm 'EXAMPLE.COM'", {}, "KERBEROS_REALM", /krb5.conf/],
  ["Unspecified GSS failure: Configuration file does not specify default realm", {}, "KERBEROS_REALM", /must name/],
  ["Preauthentication failed", { login }, "KERBEROS_KEYTAB", /ktadd/],
  ["Something else", {}, "KERBEROS_FAILED", /KRB5_TRACE/],
] as const)("%s: the error says what it means and how to mend it", (words, attempt, code, message) => {
  const error = kerberosError(new Error(words), attempt);
  expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
  expect(error.message).toContain(words);
});

describe("where tickets were looked for is named", () => {
  const cache = { name: "FILE:/tmp/krb5cc_7 (KRB5CCNAME)", principal: undefined };
  const ofAlice = { ...cache, principal: "alice@EXAMPLE.COM" };

  test.each([
    [
      "Matching credential not found",
      cache,
      /^Cannot log in: there is no Kerberos ticket in FILE:\/tmp\/krb5cc_7 \(KRB5CC/,
    ],
    ["Ticket expired", cache, /: the Kerberos ticket in FILE:.* has expired .*\n {2}kinit; klist/],
    [
      "Ticket expired",
      ofAlice,
      /^Cannot log in as alice@.*: the Kerberos ticket of alice@.* in FILE:.* has expired .*\n {2}kinit alice@EX/,
    ],
    ["Clock skew too great", ofAlice, /^Cannot log in as alice@EXAMPLE.COM: the clock/],
  ])("%s", (words, where, message) => {
    expect(kerberosError(new Error(words), { cache: where }).message).toMatch(message);
  });
});

test("a server that takes no ticket is named, with whose it was and what may be wrong: it does not say", () => {
  const said = new Error("GSS initiate failed (SaslException)");
  expect(refusedTicket(said, { login, server })?.message).toMatch(
    /^rm\/host@EXAMPLE.COM refuses the Kerberos ticket of alice@EXAMPLE.COM.*GSS initiate failed.*\n {2}.*timedatectl/,
  );
  expect(refusedTicket(new Error("connection lost"), { login, server })).toBeUndefined();
});

test("who and whom are named", () => {
  expect(kerberosError(new Error("x"), { login, server }).message).toMatch(
    /^Cannot log in as alice@EXAMPLE.COM \(\/k\/alice.keytab\) to rm\/host@EXAMPLE.COM: /,
  );
});

test("an error that says it already stays as it is", () => {
  const error = new AuthenticationError("no library", { code: "KERBEROS_LIBRARY_MISSING" });
  expect(kerberosError(error, {})).toBe(error);
});

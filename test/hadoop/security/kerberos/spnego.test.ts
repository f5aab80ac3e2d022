import { expect, test } from "@jest/globals";
import { KerberosLogin } from "../../../../src/hadoop/security/kerberos/login.ts";
import { chooseSpnego } from "../../../../src/hadoop/security/kerberos/spnego.ts";
import { ScriptedGss } from "../../../support/scripted-gss.ts";

/** The package, as one that notes what it is asked. */
function scriptedPackage() {
  const asked: unknown[] = [];
  const client = { contextComplete: false, response: "", step: async (challenge: string) => challenge };
  const kerberos = {
    GSS_MECH_OID_SPNEGO: 6,
    GSS_C_MUTUAL_FLAG: 2,
    GSS_C_SEQUENCE_FLAG: 8,
    initializeClient: async (service: string, { mechOID }: { mechOID: number }) => {
      asked.push([service, mechOID]);
      return {
        ...client,
        step: async (challenge: string) => {
          asked.push(challenge);
          return challenge;
        },
        response: Buffer.from("ticket").toString("base64"),
        contextComplete: true,
      };
    },
  };
  return { asked, load: async () => kerberos };
}

const gss = new ScriptedGss({ principal: "alice@EXAMPLE.COM" });

test("the package kerberos negotiates where it is installed", async () => {
  const { asked, load } = scriptedPackage();
  const begin = await chooseSpnego(new KerberosLogin(undefined, async () => gss), load);
  const context = await begin("nn.example.com");
  expect(await context.step(Buffer.from("abc"))).toEqual({ token: Buffer.from("ticket"), done: true });
  expect(asked).toEqual([["HTTP@nn.example.com", 6], Buffer.from("abc").toString("base64")]);
});

test("where it could not be built the library for RPC does", async () => {
  const login = new KerberosLogin(undefined, async () => gss);
  const begin = await chooseSpnego(login, () => Promise.reject(new Error("not built")));
  const { token } = await (await begin("nn.example.com")).step(Buffer.alloc(0));
  expect(token.toString()).toBe("alice@EXAMPLE.COM to HTTP/nn.example.com@EXAMPLE.COM by spnego");
});

test("a keytab is not for the package, which knows the environment's tickets alone", async () => {
  const { asked, load } = scriptedPackage();
  await chooseSpnego(new KerberosLogin({ principal: "alice", keytab: "/k" }, async () => gss), load);
  expect(asked).toEqual([]);
});

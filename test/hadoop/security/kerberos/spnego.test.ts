import { expect, test } from "@jest/globals";
import { KerberosLogin } from "../../../../src/hadoop/security/kerberos/login.ts";
import { chooseSpnego } from "../../../../src/hadoop/security/kerberos/spnego.ts";
import { ScriptedGss } from "../../../support/scripted-gss.ts";
import { firstToken } from "../../../support/spnego-token.ts";

/** The package, as one that notes what it is asked. Its tickets are for the host that DNS gives it. */
function scriptedPackage(first: Buffer = firstToken("HTTP", "nn.example.com")) {
  const asked: unknown[] = [];
  const kerberos = {
    GSS_MECH_OID_SPNEGO: 6,
    GSS_C_MUTUAL_FLAG: 2,
    GSS_C_SEQUENCE_FLAG: 8,
    initializeClient: async (service: string, { mechOID, gssFlag }: { mechOID: number; gssFlag: number }) => {
      asked.push([service, mechOID, gssFlag]);
      const client = {
        response: "",
        contextComplete: false,
        step: async (challenge: string) => {
          asked.push(challenge);
          client.response = challenge === "" ? first.toString("base64") : "";
          client.contextComplete = challenge !== "";
          return challenge;
        },
      };
      return client;
    },
  };
  return { asked, load: async () => kerberos };
}

const gss = new ScriptedGss({ principal: "alice@EXAMPLE.COM" });

const byTicket = () => new KerberosLogin(undefined, async () => gss);

test("the package kerberos negotiates where it is installed, and both sides prove themselves", async () => {
  const { asked, load } = scriptedPackage();
  const begin = await chooseSpnego(byTicket(), load);
  const context = await begin("nn.example.com");
  expect(await context.step(Buffer.alloc(0))).toEqual({ token: firstToken("HTTP", "nn.example.com"), done: false });
  expect(await context.step(Buffer.from("abc"))).toEqual({ token: Buffer.alloc(0), done: true });
  const mutual = 2;
  const sequence = 8;
  expect(asked).toEqual([["HTTP@nn.example.com", 6, mutual | sequence], "", Buffer.from("abc").toString("base64")]);
});

test.each([
  ["of another host, which DNS chose", firstToken("HTTP", "nn.evil.example"), /ticket for HTTP\/nn.evil.example/],
  ["of another service", firstToken("host", "nn.example.com"), /ticket for host\/nn.example.com/],
  ["of a name that looks like it", firstToken("HTTP", "nn.example.com", "x"), /ticket for HTTP\/nn.example.com\/x/],
  ["that cannot be read", Buffer.from("NTLMSSP"), /ticket for nobody/],
])("the package's ticket %s is not shown", async (_what, first, words) => {
  const begin = await chooseSpnego(byTicket(), scriptedPackage(first).load);
  const context = await begin("nn.example.com");
  await expect(context.step(Buffer.alloc(0))).rejects.toMatchObject({
    code: "KERBEROS_SERVER",
    message: expect.stringMatching(words),
  });
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

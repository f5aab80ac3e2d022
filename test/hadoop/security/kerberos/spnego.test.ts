import { expect, test } from "@jest/globals";
import { KerberosLogin } from "../../../../src/hadoop/security/kerberos/login.ts";
import { chooseSpnego } from "../../../../src/hadoop/security/kerberos/spnego.ts";
import { ScriptedGss } from "../../../support/scripted-gss.ts";

function der(tag: number, ...contents: readonly (Buffer | string)[]): Buffer {
  const content = Buffer.concat(contents.map((part) => Buffer.from(part)));
  if (content.length > 0xffff) throw new Error("longer than it is written here");
  return Buffer.concat([Buffer.from([tag, 0x82, content.length >> 8, content.length & 0xff]), content]);
}

/** The first token of a negotiation, as MIT Kerberos writes it (RFC 4178, RFC 4121, RFC 4120). */
function firstToken(...server: readonly string[]): Buffer {
  const sequence = (...fields: readonly Buffer[]) => der(0x30, ...fields.map((field, at) => der(0xa0 + at, field)));
  const number = (value: number) => Buffer.from([2, 1, value]);
  const name = sequence(number(3), der(0x30, ...server.map((part) => der(0x1b, part))));
  const ticket = der(0x61, sequence(number(5), der(0x1b, "EXAMPLE.COM"), name, sequence(number(18))));
  const request = der(0x6e, sequence(number(5), number(14), der(3, "....."), ticket, sequence(number(18))));
  const kerberos = der(0x60, der(6, Buffer.from("2a864886f712010202", "hex")), Buffer.from([1, 0]), request);
  const fields = [der(0xa0, der(0x30, der(6, "krb5"))), der(0xa2, der(4, kerberos))];
  return der(0x60, der(6, "spnego"), der(0xa0, der(0x30, ...fields)));
}

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

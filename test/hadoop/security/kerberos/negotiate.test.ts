import { describe, expect, test } from "@jest/globals";
import { AuthenticationError } from "../../../../src/hadoop/security/errors.ts";
import { Negotiate } from "../../../../src/hadoop/security/kerberos/negotiate.ts";
import { SignedCookies } from "../../../../src/hadoop/security/kerberos/signed-cookies.ts";

const secure = new URL("https://nn.example.com:9871/webhdfs/v1/?op=LISTSTATUS");
const base64 = (text: string) => Buffer.from(text).toString("base64");

/** A library whose first token is the host's name, and which takes `proof` alone from the server. */
function request({
  url = secure,
  cookies = new SignedCookies(),
  actFor,
}: {
  url?: URL;
  cookies?: SignedCookies;
  actFor?: string;
} = {}) {
  return new Negotiate({
    url,
    cookies,
    actFor,
    explain: (cause) => new AuthenticationError(`explained: ${String(cause)}`, { code: "KERBEROS_FAILED" }),
    spnego: async () => async (host) => ({
      step: async (token) => {
        if (token.length === 0) return { token: Buffer.from(`for ${host}`), done: false };
        if (Buffer.from(token).toString() !== "proof") throw new Error("bad signature");
        return { token: Buffer.alloc(0), done: true };
      },
    }),
  });
}

describe("Negotiate", () => {
  test("shows nothing until the server asks, then a ticket for its host", async () => {
    const negotiate = request();
    expect(negotiate.begin()).toEqual({});
    const authorization = `Negotiate ${base64("for nn.example.com")}`;
    expect(await negotiate.respond(["Basic realm=x", "negotiate"])).toEqual({ headers: { authorization } });
  });

  test("has nothing to show to a server that asks for something else, or that refuses the ticket", async () => {
    expect(await request().respond(["Basic realm=x"])).toBeUndefined();
    const negotiate = request();
    await negotiate.respond(["Negotiate"]);
    expect(await negotiate.respond(["Negotiate"])).toBeUndefined();
  });

  test("checks the server's own proof, where it gives one", async () => {
    const proving = async (proof: string) => {
      const negotiate = request();
      await negotiate.respond(["Negotiate"]);
      return await negotiate.complete({ "www-authenticate": `Negotiate ${base64(proof)}` });
    };
    await proving("proof");
    await expect(proving("another's")).rejects.toMatchObject({ code: "KERBEROS_FAILED" });
  });

  test("names whom a service acts for, with the ticket too", async () => {
    const negotiate = request({ actFor: "bob" });
    expect(negotiate.begin()).toEqual({ parameters: { doas: "bob" } });
    expect(await negotiate.respond(["Negotiate"])).toMatchObject({ parameters: { doas: "bob" } });
  });

  test("what the library says is explained", async () => {
    const negotiate = request();
    await expect(negotiate.respond([`Negotiate ${base64("?")}`])).rejects.toThrow(/^explained: Error: bad signature/);
  });
});

describe("the server's cookie", () => {
  const cookie = 'hadoop.auth="u=alice&s=x"';

  async function answered(url: URL, cookies: SignedCookies, given: string): Promise<void> {
    await request({ url, cookies }).complete({ "set-cookie": ["other=1", `${given}; Path=/; Secure; HttpOnly`] });
  }

  test("is shown to that server alone from then on", async () => {
    const cookies = new SignedCookies();
    await answered(secure, cookies, cookie);
    expect(request({ cookies }).begin()).toEqual({ headers: { cookie } });
    for (const other of [
      "https://nn.example.com:9872/",
      "https://other.example.com:9871/",
      "http://nn.example.com:9871/",
    ]) {
      expect(request({ cookies, url: new URL(other) }).begin()).toEqual({});
    }
  });

  test("is not kept over http, where others read it", async () => {
    const cookies = new SignedCookies();
    const url = new URL("http://nn.example.com:9870/");
    await answered(url, cookies, cookie);
    expect(request({ cookies, url }).begin()).toEqual({});
  });

  test("is forgotten when the server empties it or asks again", async () => {
    const cookies = new SignedCookies();
    await answered(secure, cookies, cookie);
    await answered(secure, cookies, 'hadoop.auth=""');
    expect(request({ cookies }).begin()).toEqual({});
    await answered(secure, cookies, cookie);
    await request({ cookies }).respond(["Negotiate"]);
    expect(request({ cookies }).begin()).toEqual({});
  });
});

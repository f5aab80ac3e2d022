import { describe, expect, test } from "@jest/globals";
import { AuthenticationError } from "../../../../src/hadoop/security/errors.ts";
import { Negotiate, SignedCookies } from "../../../../src/hadoop/security/kerberos/negotiate.ts";

const secure = new URL("https://nn.example.com:9871/webhdfs/v1/?op=LISTSTATUS");
const base64 = (text: string) => Buffer.from(text).toString("base64");

/** A library whose first token is the host's name, and which takes `proof` alone from the server. */
function request({
  url = secure,
  cookies = new SignedCookies(),
  actFor,
  mayBeOpen = false,
  isDoneAtOnce = false,
  neverDone = false,
}: {
  url?: URL;
  cookies?: SignedCookies;
  actFor?: string;
  mayBeOpen?: boolean;
  isDoneAtOnce?: boolean;
  neverDone?: boolean;
} = {}) {
  return new Negotiate({
    url,
    cookies,
    actFor,
    mayBeOpen,
    explain: (cause) => new AuthenticationError(`explained: ${String(cause)}`, { code: "KERBEROS_FAILED" }),
    spnego: async () => async (host) => ({
      step: async (token) => {
        if (token.length === 0) return { token: Buffer.from(`for ${host}`), done: isDoneAtOnce };
        if (Buffer.from(token).toString() !== "proof") throw new Error("bad signature");
        return { token: Buffer.alloc(0), done: !neverDone };
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

  /** The ticket was shown; the answer comes with a status, and a proof or none. */
  async function answeredTicket(status: number, proof?: string): Promise<void> {
    const negotiate = request();
    await negotiate.respond(["Negotiate"]);
    const headers = proof === undefined ? {} : { "www-authenticate": `Negotiate ${base64(proof)}` };
    await negotiate.complete(headers, status);
  }

  test.each([200, 307, 404])("an answer %i without the server's own proof is not used", async (status) => {
    await answeredTicket(status, "proof");
    await expect(answeredTicket(status)).rejects.toMatchObject({ code: "SERVER_NOT_PROVED" });
    await expect(answeredTicket(status, "")).rejects.toMatchObject({ code: "SERVER_NOT_PROVED" });
    await expect(answeredTicket(status, "another's")).rejects.toMatchObject({ code: "KERBEROS_FAILED" });
  });

  test.each([403, 500, 503])(
    "a refusal %i needs no proof: Hadoop's servers refuse before they give one",
    async (status) => {
      await answeredTicket(status);
      await expect(answeredTicket(status, "another's")).rejects.toMatchObject({ code: "KERBEROS_FAILED" });
    },
  );

  test("a library that is done before the server proved itself is not believed", async () => {
    const negotiate = request({ isDoneAtOnce: true });
    await negotiate.respond(["Negotiate"]);
    await expect(negotiate.complete({}, 200)).rejects.toMatchObject({ code: "SERVER_NOT_PROVED" });
  });

  test("a server that asks for no proof is not believed, unless it may be open to all", async () => {
    const asked = request();
    asked.begin();
    await expect(asked.complete({}, 200)).rejects.toMatchObject({
      code: "SERVER_NOT_SECURE",
      message: expect.stringContaining("hadoop.security.authentication"),
    });
    const open = request({ mayBeOpen: true });
    open.begin();
    await open.complete({}, 200);
  });

  test("one that may be open and asks all the same must prove itself", async () => {
    const negotiate = request({ mayBeOpen: true });
    await negotiate.respond(["Negotiate"]);
    await expect(negotiate.complete({}, 200)).rejects.toMatchObject({ code: "SERVER_NOT_PROVED" });
  });

  test("names whom a service acts for, with the ticket too", async () => {
    const negotiate = request({ actFor: "bob" });
    expect(negotiate.begin()).toEqual({ parameters: { doas: "bob" } });
    expect(await negotiate.respond(["Negotiate"])).toMatchObject({ parameters: { doas: "bob" } });
  });

  test("a server that goes on with the ticket proves itself in its challenge, once the library is done", async () => {
    const negotiate = request();
    await negotiate.respond(["Negotiate"]);
    expect(await negotiate.respond([`Negotiate ${base64("proof")}`])).toEqual({
      headers: { authorization: "Negotiate " },
    });
    await negotiate.complete({ "www-authenticate": `Negotiate ${base64("anything")}` }, 200);
  });

  test("a server that goes on, but has not yet proved itself, is not believed", async () => {
    const negotiate = request({ neverDone: true });
    await negotiate.respond(["Negotiate"]);
    await negotiate.respond([`Negotiate ${base64("proof")}`]);
    await expect(negotiate.complete({}, 200)).rejects.toMatchObject({ code: "SERVER_NOT_PROVED" });
  });

  test("a proof that nobody asked for is none", async () => {
    const negotiate = request();
    negotiate.begin();
    const headers = { "www-authenticate": `Negotiate ${base64("proof")}` };
    await expect(negotiate.complete(headers, 200)).rejects.toMatchObject({ code: "SERVER_NOT_SECURE" });
  });

  test("what the library says is explained", async () => {
    const negotiate = request();
    await expect(negotiate.respond([`Negotiate ${base64("?")}`])).rejects.toThrow(/^explained: Error: bad signature/);
  });
});

describe("the server's cookie", () => {
  const cookie = 'hadoop.auth="u=alice&s=x"';

  async function answered(url: URL, cookies: SignedCookies, given: string): Promise<void> {
    const negotiate = request({ url, cookies });
    await negotiate.respond(["Negotiate"]);
    await negotiate.complete(
      {
        "www-authenticate": `Negotiate ${base64("proof")}`,
        "set-cookie": ["other=1", `${given}; Path=/; Secure; HttpOnly`],
      },
      200,
    );
  }

  test("stands for the ticket in later requests, which are answered without a proof", async () => {
    const cookies = new SignedCookies();
    await answered(secure, cookies, cookie);
    const later = request({ cookies });
    expect(later.begin()).toEqual({ headers: { cookie } });
    await later.complete({}, 200);
  });

  test("is shown with whom a service acts for", async () => {
    const cookies = new SignedCookies();
    await answered(secure, cookies, cookie);
    expect(request({ cookies, actFor: "bob" }).begin()).toEqual({ parameters: { doas: "bob" }, headers: { cookie } });
  });

  test("is kept whatever its spacing, and none of another name is", async () => {
    const cookies = new SignedCookies();
    cookies.keep(secure, [" hadoop.auth=x ; Path=/", "hadoop.author=y", "other=z"]);
    expect(cookies.for(secure)).toBe("hadoop.auth=x");
  });

  test("does not stand for the ticket that the server asks for all the same", async () => {
    const cookies = new SignedCookies();
    await answered(secure, cookies, cookie);
    const later = request({ cookies });
    later.begin();
    await later.respond(["Negotiate"]);
    await expect(later.complete({}, 200)).rejects.toMatchObject({ code: "SERVER_NOT_PROVED" });
  });

  test("is not taken from a server that did not prove itself", async () => {
    const cookies = new SignedCookies();
    const negotiate = request({ cookies });
    await negotiate.respond(["Negotiate"]);
    await negotiate.complete({ "set-cookie": [cookie] }, 403);
    expect(request({ cookies }).begin()).toEqual({});
  });

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

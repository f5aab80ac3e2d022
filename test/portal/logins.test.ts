import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { describe, expect, test } from "@jest/globals";
import { type LoginOptions, Logins } from "../../portal/logins.ts";

const HOUR_MS = 3_600_000;

function scene(more: Partial<LoginOptions> = {}) {
  let nowMs = 0;
  const logins = new Logins({
    accept: async (ticket) => ({ principal: `${Buffer.from(ticket)}@EXAMPLE.COM`, answer: Buffer.from("proof") }),
    localNameOf: (principal) => principal.replace(/@.*/, ""),
    takesCertificates: false,
    nowMs: () => nowMs,
    ...more,
  });
  /** @returns the user, and the headers of the answer */
  async function ask(headers: Readonly<Record<string, string>>, socket = new Socket()) {
    const request = new IncomingMessage(socket);
    Object.assign(request.headers, headers);
    const response = new ServerResponse(request);
    const user = await logins.userOf(request, response).catch((error: unknown) => error);
    return { user, headers: response.getHeaders() };
  }
  const later = (ms: number) => {
    nowMs += ms;
  };
  return { ask, later };
}

const ticketOf = (user: string) => ({ authorization: `Negotiate ${Buffer.from(user).toString("base64")}` });
const cookieIn = (headers: Readonly<Record<string, unknown>>) => String(headers["set-cookie"]).split(";")[0] ?? "";

describe("who logs in at the portal", () => {
  test("is told by what he can prove himself", async () => {
    const { user, headers } = await scene({ takesCertificates: true }).ask({});
    expect(user).toMatchObject({
      code: "NOT_LOGGED_IN",
      message: expect.stringMatching(/kinit.*tony\.portal\.client-ca/),
    });
    expect(headers).toEqual({ "www-authenticate": "Negotiate" });
    const byCertificate = new Logins({ localNameOf: String, takesCertificates: true, nowMs: () => 0 });
    const request = new IncomingMessage(new Socket());
    Object.assign(request.headers, ticketOf("ada"));
    const response = new ServerResponse(request);
    await expect(byCertificate.userOf(request, response)).rejects.toMatchObject({
      code: "NOT_LOGGED_IN",
      message: "The portal asks who you are: by a certificate of the authority that tony.portal.client-ca names",
    });
    expect(response.getHeaders()).toEqual({});
    expect((await scene().ask({})).user).toMatchObject({
      message: expect.stringMatching(/^The portal asks who you are: by a ticket of Kerberos \(.*--negotiate -u :\)$/),
    });
  });

  test("is known by his ticket, and by the cookie that he got for it, for an hour", async () => {
    const { ask, later } = scene();
    const { user, headers } = await ask(ticketOf("ada"));
    expect(user).toBe("ada");
    expect(headers).toMatchObject({
      "www-authenticate": `Negotiate ${Buffer.from("proof").toString("base64")}`,
      "set-cookie": expect.stringMatching(
        /^tony-portal=ada\.3600000\.[\w-]+; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      ),
    });
    const cookie = cookieIn(headers);
    expect((await ask({ cookie: `other=1; ${cookie}; more=2` })).user).toBe("ada");
    later(HOUR_MS - 1);
    expect((await ask({ cookie })).user).toBe("ada");
    later(1);
    expect((await ask({ cookie })).user).toMatchObject({ code: "NOT_LOGGED_IN" });
  });

  test("is nobody by a cookie that was changed, or that another portal gave", async () => {
    const { ask } = scene();
    const cookie = cookieIn((await ask(ticketOf("ada"))).headers);
    const other = cookieIn((await scene().ask(ticketOf("ada"))).headers);
    for (const changed of [cookie.replace("ada", "bob"), cookie.replace("3600000", "9600000"), other, "tony-portal="])
      expect((await ask({ cookie: changed })).user).toMatchObject({ code: "NOT_LOGGED_IN" });
  });

  test("is told why his ticket is not taken, and who names principals of other realms", async () => {
    const refusing = scene({ accept: () => Promise.reject(new Error("Clock skew too great")) });
    expect((await refusing.ask(ticketOf("ada"))).user).toMatchObject({
      code: "NOT_ALLOWED",
      message: "The portal does not take this ticket: Clock skew too great",
    });
    const unnamed = scene({
      localNameOf: (principal) => {
        throw new Error(`no rule for ${principal}`);
      },
    });
    for (const { ask } of [unnamed, scene({ localNameOf: () => "ada/admin" })])
      expect((await ask(ticketOf("ada"))).user).toMatchObject({
        code: "NOT_ALLOWED",
        message: expect.stringContaining("ada@EXAMPLE.COM has no user name on this cluster"),
      });
  });

  test("is taken by his ticket however many others were refused before him", async () => {
    const { ask } = scene({
      accept: async (ticket) => {
        if (String(ticket) !== "ada") throw new Error("Clock skew too great");
        return { principal: "ada@EXAMPLE.COM", answer: Buffer.from("proof") };
      },
    });
    for (let nth = 0; nth < 5; nth += 1)
      expect((await ask(ticketOf("bob"))).user).toMatchObject({ code: "NOT_ALLOWED" });
    expect((await ask(ticketOf("ada"))).user).toBe("ada");
  });

  test.each<[string, boolean, object | undefined, string]>([
    ["the user of a certificate that is signed by the site's authority", true, { CN: "bob" }, "bob"],
    ["who his ticket says where the certificate is signed by nobody that is known", false, { CN: "bob" }, "ada"],
    ["who his ticket says where the certificate names no user", true, { CN: "bob smith" }, "ada"],
    ["who his ticket says where there is no certificate", true, undefined, "ada"],
  ])("is %s", async (_who, authorized, subject, user) => {
    const socket = Object.assign(new TLSSocket(new Socket()), { authorized, getPeerCertificate: () => ({ subject }) });
    expect((await scene().ask(ticketOf("ada"), socket)).user).toBe(user);
  });

  test("is whom his certificate names, whatever cookie he has", async () => {
    const { ask } = scene();
    const cookie = cookieIn((await ask(ticketOf("ada"))).headers);
    const getPeerCertificate = () => ({ subject: { CN: "bob" } });
    const socket = Object.assign(new TLSSocket(new Socket()), { authorized: true, getPeerCertificate });
    expect([(await ask({ cookie })).user, (await ask({ cookie }, socket)).user]).toEqual(["ada", "bob"]);
  });

  test("waits while four tickets are looked at", async () => {
    const held: (() => void)[] = [];
    const { ask } = scene({
      accept: () =>
        new Promise((resolve) =>
          held.push(() => resolve({ principal: "ada@EXAMPLE.COM", answer: Buffer.from("proof") })),
        ),
    });
    const asked = Array.from({ length: 4 }, () => ask(ticketOf("ada")));
    expect((await ask(ticketOf("ada"))).user).toMatchObject({ code: "BUSY" });
    for (const go of held) go();
    expect((await Promise.all(asked)).map(({ user }) => user)).toEqual(["ada", "ada", "ada", "ada"]);
    const again = Array.from({ length: 4 }, () => ask(ticketOf("ada")));
    expect((await ask(ticketOf("ada"))).user).toMatchObject({ code: "BUSY" });
    for (const go of held.slice(4)) go();
    expect((await Promise.all(again)).map(({ user }) => user)).toEqual(["ada", "ada", "ada", "ada"]);
  });
});

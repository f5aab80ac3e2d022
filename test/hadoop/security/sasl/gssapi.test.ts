import { describe, expect, test } from "@jest/globals";
import type { GssContext } from "../../../../src/hadoop/security/kerberos/gss-api.ts";
import type { Protection } from "../../../../src/hadoop/security/sasl/digest-md5.ts";
import { Gssapi } from "../../../../src/hadoop/security/sasl/gssapi.ts";
import { ScriptedGss, scriptedProtection } from "../../../support/scripted-gss.ts";

const server = "rm/host@EXAMPLE.COM";
const attempt = { server };

function exchange(protections?: readonly Protection[], changed: Partial<GssContext> = {}) {
  const gss = new ScriptedGss({ principal: "alice@EXAMPLE.COM" });
  const context = gss.initiate({ principal: "alice@EXAMPLE.COM", remainingSeconds: 60 }, "krb5", server);
  return new Gssapi({ ...context, ...changed }, { protections, attempt });
}

/** The server's side of the last message: which protections it offers, and the longest message that it takes. */
const offerOf = (layers: number, maxBytes: number) =>
  scriptedProtection().wrap(
    Buffer.from([layers, ...Buffer.from(Uint32Array.of(maxBytes).buffer).swap32().subarray(1)]),
    false,
  );

/** Both sides have proved themselves. */
async function proved(mechanism: Gssapi): Promise<void> {
  expect(Buffer.from(await mechanism.respond(Buffer.alloc(0))).toString()).toBe(
    `alice@EXAMPLE.COM to ${server} by krb5`,
  );
  expect(await mechanism.respond(Buffer.from(`${server} it is`))).toHaveLength(0);
}

describe("SASL's GSSAPI", () => {
  test.each([
    ["all", 7, undefined, 4, true],
    ["all", 7, ["auth-int", "auth-conf"], 2, true],
    ["none or signed", 3, ["auth-conf", "auth-int"], 2, true],
    ["none", 1, ["auth", "auth-conf"], 1, false],
    ["none", 1, undefined, 1, false],
  ] as const)(
    "offered %s (%i), of %j the first that is offered is chosen",
    async (_name, offered, wanted, chosen, layered) => {
      const mechanism = exchange(wanted);
      await proved(mechanism);
      const answer = scriptedProtection().unwrap(await mechanism.respond(offerOf(offered, 1_000))).message;
      expect([...answer]).toEqual(layered ? [chosen, 1, 0, 0] : [chosen, 0, 0, 0]);
      expect(mechanism.complete() !== undefined).toBe(layered);
    },
  );

  test("less protection than the configuration demands is refused", async () => {
    const mechanism = exchange(["auth-conf"]);
    await proved(mechanism);
    await expect(mechanism.respond(offerOf(3, 1_000))).rejects.toThrow(
      /offers qop "auth-int, auth".*hadoop.rpc.protection/,
    );
  });

  test("a server that says success before it has proved itself is not believed", async () => {
    const mechanism = exchange();
    expect(() => mechanism.complete()).toThrow(/before it had proved itself/);
    await proved(mechanism);
    expect(() => mechanism.complete()).toThrow(/before it had proved itself/);
  });

  test("a server of another name fails the exchange, and the error names the one that was meant", async () => {
    const mechanism = exchange();
    await mechanism.respond(Buffer.alloc(0));
    await expect(mechanism.respond(Buffer.from("nn/host@EXAMPLE.COM it is"))).rejects.toMatchObject({
      code: "KERBEROS_FAILED",
      message: expect.stringContaining(server),
    });
  });

  test.each([
    ["is not four bytes long", scriptedProtection().wrap(Buffer.from("?"), false), /malformed/],
    ["takes no message that holds anything", offerOf(4, 2), /none fits/],
  ])("a last message that %s is refused", async (_what, message, words) => {
    const mechanism = exchange();
    await proved(mechanism);
    await expect(mechanism.respond(message)).rejects.toThrow(words);
  });

  test("nothing follows the last message", async () => {
    const mechanism = exchange();
    await proved(mechanism);
    await mechanism.respond(offerOf(1, 0));
    await expect(mechanism.respond(Buffer.alloc(0))).rejects.toThrow(/went on/);
  });
});

describe("its layer", () => {
  async function layerOf(layers: number) {
    const mechanism = exchange();
    await proved(mechanism);
    const peer = scriptedProtection();
    await mechanism.respond(peer.wrap(Buffer.from([layers, 0, 4, 0]), false));
    const layer = mechanism.complete();
    if (layer === undefined) throw new Error("a layer is expected");
    return { layer, peer };
  }

  test("cuts messages to what the server takes, and encrypts where that was agreed", async () => {
    const { layer, peer } = await layerOf(4);
    expect(layer.maxMessageBytes).toBe(1_022);
    expect(layer.wrap(Buffer.from("call")).toString()).not.toContain("call");
    expect(layer.unwrap(peer.wrap(Buffer.from("reply"), true)).toString()).toBe("reply");
  });

  test("an answer in clear text is refused where encryption was agreed, and taken where it was not", async () => {
    const encrypted = await layerOf(4);
    expect(() => encrypted.layer.unwrap(encrypted.peer.wrap(Buffer.from("reply"), false))).toThrow(/clear text/);
    const signed = await layerOf(2);
    expect(signed.layer.unwrap(signed.peer.wrap(Buffer.from("reply"), false)).toString()).toBe("reply");
  });

  test("a repeated message is refused", async () => {
    const { layer, peer } = await layerOf(2);
    const token = peer.wrap(Buffer.from("reply"), false);
    layer.unwrap(token);
    expect(() => layer.unwrap(token)).toThrow(expect.objectContaining({ code: "RPC_AUTHENTICATION" }));
  });
});

import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  DigestMd5,
  type DigestOptions,
  type Protection,
  parseDirectives,
} from "../../../../src/hadoop/security/sasl/digest-md5.ts";
import {
  type DigestCipher,
  digestCiphers,
  digestLayer,
} from "../../../../src/hadoop/security/sasl/digest-md5-layer.ts";
import { outcomeOf } from "../../../support/outcome.ts";
import { pumped } from "../../../support/pumped.ts";

/** All in base64; see test/fixtures/sasl/README.md. */
interface Exchange {
  readonly qop: Protection;
  readonly cipher: DigestCipher | "";
  readonly name: string;
  readonly password: string;
  readonly challenge: string;
  readonly response: string;
  readonly proof: string;
  readonly messages: readonly { readonly clear: string; readonly byClient: string; readonly byServer: string }[];
}

const recorded: readonly Exchange[] = JSON.parse(
  readFileSync(new URL("../../../fixtures/sasl/digest-md5.json", import.meta.url), "utf8"),
);
const offer = { protocol: "", serverId: "default" };
const bytes = (base64: string) => Buffer.from(base64, "base64");

/** A client that is made to choose what the recorded one chose, its random nonce included. */
function replaying(exchange: Exchange): DigestMd5 {
  const nonce = parseDirectives(bytes(exchange.response)).get("cnonce") ?? "";
  const ciphers = exchange.cipher === "" ? [] : [exchange.cipher];
  return new DigestMd5({
    name: exchange.name,
    password: exchange.password,
    offer,
    options: { protections: [exchange.qop], ciphers, nonce: () => nonce },
  });
}

describe.each(recorded.map((exchange) => ({ title: `${exchange.qop} ${exchange.cipher}`, exchange })))(
  "against a recorded JDK: $title",
  ({ exchange }) => {
    test("the response is the JDK's, byte for byte, and its proof is accepted", () => {
      const client = replaying(exchange);
      expect(Buffer.from(client.respond(bytes(exchange.challenge))).toString()).toBe(
        bytes(exchange.response).toString(),
      );
      expect(client.complete(bytes(exchange.proof)) === undefined).toBe(exchange.qop === "auth");
    });

    test("messages are wrapped as the JDK wraps them, and its own are unwrapped, where there is a layer at all", () => {
      const client = replaying(exchange);
      client.respond(bytes(exchange.challenge));
      const layer = client.complete(bytes(exchange.proof));
      expect(exchange.messages.length > 0).toBe(layer !== undefined);
      for (const { clear, byClient, byServer } of exchange.messages) {
        expect(layer?.wrap(bytes(clear)).toString("base64")).toBe(byClient);
        expect(layer?.unwrap(bytes(byServer)).toString("base64")).toBe(clear);
      }
    });
  },
);

describe("a security layer", () => {
  const hashA1 = Buffer.alloc(16, 5);
  const layers = [
    undefined,
    ...Object.keys(digestCiphers).filter((name): name is DigestCipher => name in digestCiphers),
  ];

  test.each(layers)("%s: what one side wraps the other unwraps, in order", (cipher) => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 200 }), { maxLength: 6 }), (messages) => {
        const client = digestLayer({ hashA1, cipher, peerMaxBytes: 65_536 });
        const server = digestLayer({ hashA1, cipher, peerMaxBytes: 65_536, side: "server" });
        for (const message of messages) {
          expect(server.unwrap(client.wrap(message))).toEqual(Buffer.from(message));
          expect(client.unwrap(server.wrap(message))).toEqual(Buffer.from(message));
        }
      }),
      { numRuns: 25 },
    );
  });

  test.each(layers)("%s: a changed, shortened or repeated message is refused", (cipher) => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 60 }),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (message, at, flip) => {
          const both = () => ({
            client: digestLayer({ hashA1, cipher, peerMaxBytes: 65_536 }),
            server: digestLayer({ hashA1, cipher, peerMaxBytes: 65_536, side: "server" }),
          });
          const changed = both();
          const wrapped = changed.client.wrap(message);
          const index = at % wrapped.length;
          wrapped[index] = (wrapped[index] ?? 0) ^ flip;
          expect(() => changed.server.unwrap(wrapped)).toThrow(/A protected message/);

          const shortened = both();
          const whole = shortened.client.wrap(message);
          expect(() => shortened.server.unwrap(whole.subarray(0, at % whole.length))).toThrow(/A protected message/);

          const repeated = both();
          const once = repeated.client.wrap(message);
          repeated.server.unwrap(once);
          expect(() => repeated.server.unwrap(once)).toThrow(/not the next in sequence/);
        },
      ),
      { numRuns: 25 },
    );
  });

  test("never makes a message longer than the peer's maxbuf", () => {
    for (const cipher of layers) {
      const layer = digestLayer({ hashA1, cipher, peerMaxBytes: 100 });
      expect(layer.wrap(Buffer.alloc(layer.maxMessageBytes)).length).toBeLessThanOrEqual(100);
    }
  });
});

describe("choices", () => {
  const challenge = (qop: string) =>
    Buffer.from(
      `realm="default",nonce="n",qop="${qop}",charset=utf-8,cipher="3des,rc4,des,rc4-56,rc4-40",algorithm=md5-sess`,
    );
  const chosen = (qop: string, protections?: readonly Protection[]) => {
    const client = new DigestMd5({ name: "n", password: "p", offer, options: { protections } });
    const response = parseDirectives(client.respond(challenge(qop)));
    return [response.get("qop"), response.get("cipher")];
  };

  test("the strongest that is offered is taken, whoever ordered the list", () => {
    expect(chosen("auth")).toEqual(["auth", undefined]);
    expect(chosen("auth,auth-int")).toEqual(["auth-int", undefined]);
    expect(chosen("auth,auth-int,auth-conf")).toEqual(["auth-conf", "rc4"]);
    expect(chosen("auth-quantum, auth-conf,auth-int,auth")).toEqual(["auth-conf", "rc4"]);
  });

  test("or the first of those that are acceptable, and none else", () => {
    expect(chosen("auth,auth-int,auth-conf", ["auth-conf", "auth"])).toEqual(["auth-conf", "rc4"]);
    expect(() => chosen("auth", ["auth-conf"])).toThrow(/offers qop "auth"; this client accepts auth-conf/);
  });

  test("ciphers that anybody can break are refused, unless they are asked for", () => {
    const weak = Buffer.from('realm="default",nonce="n",qop="auth-conf",charset=utf-8,cipher="des,rc4-56,rc4-40"');
    const respond = (options: DigestOptions) =>
      new DigestMd5({ name: "n", password: "p", offer, options }).respond(weak);
    expect(() => respond({})).toThrow(/offers cipher "des,rc4-56,rc4-40"; this client accepts rc4, 3des/);
    expect(parseDirectives(respond({ ciphers: ["rc4-56"] })).get("cipher")).toBe("rc4-56");
  });

  test("names with quotes and backslashes survive", () => {
    const name = 'a "quoted\\" name';
    const client = new DigestMd5({ name, password: "p", offer });
    expect(parseDirectives(client.respond(challenge("auth"))).get("username")).toBe(name);
  });
});

describe("directive lists", () => {
  test("are read whatever their spacing and quoting", () => {
    const text = ' realm="a, b" , ,nonce="x\\"y",qop=auth,realm="second",maxbuf = 10 ';
    expect([...parseDirectives(Buffer.from(text))]).toEqual([
      ["realm", "a, b"],
      ["nonce", 'x"y'],
      ["qop", "auth"],
      ["maxbuf", "10"],
    ]);
  });

  test("anything else is an error, never a hang", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
        expect(["returned", "RPC_AUTHENTICATION"]).toContain(outcomeOf(() => parseDirectives(noise)));
      }),
    );
    expect(() => parseDirectives(Buffer.from('nonce="open'))).toThrow(/malformed/);
  });

  test("of any shape take linear time", () => {
    for (const text of pumped(["a", " ", ",", "=", '"', "\\", "a=", 'a="', '\\"', "a=b,"])) {
      expect(["returned", "RPC_AUTHENTICATION"]).toContain(outcomeOf(() => parseDirectives(Buffer.from(text))));
    }
  });
});

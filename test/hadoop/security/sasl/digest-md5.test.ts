import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  DigestMd5,
  type DigestOptions,
  type Protection,
  parseDirectives,
  tokenDigest,
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

describe("a server's challenge", () => {
  const client = (options: DigestOptions = {}) => new DigestMd5({ name: "n", password: "p", offer, options });
  const respond = (challenge: string) => parseDirectives(client().respond(Buffer.from(challenge)));

  test("without protections, realm or charset is answered without them", () => {
    const response = respond('nonce="n"');
    expect([response.get("qop"), response.get("realm"), response.get("charset")]).toEqual(["auth", "", undefined]);
    expect(respond('nonce="n",realm="default",charset=utf-8').get("realm")).toBe("default");
    expect(respond('nonce="n",realm="default",charset=utf-8').get("charset")).toBe("utf-8");
  });

  test.each([
    ['realm="default"', "challenge has no nonce"],
    ['nonce="n",qop="auth-conf"', "challenge has no cipher"],
    ['nonce="n",maxbuf=31', "challenge has maxbuf 31"],
    ['nonce="n",maxbuf=16777216', "challenge has maxbuf 16777216"],
    ['nonce="n",maxbuf=100.5', "challenge has maxbuf 100.5"],
    ['nonce="n",maxbuf=many', "challenge has maxbuf many"],
  ])("is refused: %s", (challenge, said) => {
    expect(() => respond(challenge)).toThrow(expect.objectContaining({ code: "RPC_AUTHENTICATION" }));
    expect(() => respond(challenge)).toThrow(said);
  });

  test("comes once", () => {
    const answering = client();
    answering.respond(Buffer.from('nonce="n"'));
    expect(() => answering.respond(Buffer.from('nonce="m"'))).toThrow("a second DIGEST-MD5 challenge");
  });

  test("is answered with another nonce of our own each time", () => {
    const nonces = [respond('nonce="n"'), respond('nonce="n"')].map((response) => response.get("cnonce"));
    expect(new Set(nonces).size).toBe(2);
    expect(Buffer.from(nonces[0] ?? "", "base64")).toHaveLength(24);
  });

  test("says how long a message may be, 64 KiB where it does not", () => {
    const longest = (challenge: string, options: DigestOptions = {}) => {
      const answering = client(options);
      const response = parseDirectives(answering.respond(Buffer.from(challenge)));
      return answering.complete(Buffer.from(`rspauth=${proofOf(response)}`))?.maxMessageBytes;
    };
    const integrity = { protections: ["auth-int"] } as const;
    expect(longest('nonce="n",qop="auth-int"', integrity)).toBe(65_536 - 16);
    expect(longest('nonce="n",qop="auth-int",maxbuf=32', integrity)).toBe(16);
    expect(longest('nonce="n",qop="auth-int",maxbuf=16777215', integrity)).toBe(16_777_199);
    expect(longest('nonce="n",qop="auth-conf",cipher="rc4",maxbuf=1000')).toBe(976);
  });
});

/** What a server that knows the password "p" of "n" proves itself with (RFC 2831 §2.1.3). */
function proofOf(response: ReadonlyMap<string, string>): string {
  const md5 = (...parts: readonly (string | Uint8Array)[]) => {
    const hash = createHash("md5");
    for (const part of parts) hash.update(part);
    return hash.digest();
  };
  const [nonce, clientNonce, qop] = ["nonce", "cnonce", "qop"].map((name) => response.get(name) ?? "");
  const hashA1 = md5(md5(`n:${response.get("realm")}:p`), `:${nonce}:${clientNonce}`).toString("hex");
  const hashA2 = md5(`:${response.get("digest-uri")}${qop === "auth" ? "" : `:${"0".repeat(32)}`}`).toString("hex");
  return md5([hashA1, nonce, "00000001", clientNonce, qop, hashA2].join(":")).toString("hex");
}

describe("a server's proof", () => {
  const begun = () => {
    const client = new DigestMd5({ name: "n", password: "p", offer });
    return { client, proof: proofOf(parseDirectives(client.respond(Buffer.from('nonce="n"')))) };
  };

  test("is accepted from one that knows the password", () => {
    const { client, proof } = begun();
    expect(client.complete(Buffer.from(`rspauth=${proof}`))).toBeUndefined();
  });

  test("is refused when it is another, shorter, none, or comes before the challenge", () => {
    const { client, proof } = begun();
    const unproved = "could not prove that it knows the token's password";
    const other = `${proof.startsWith("0") ? "1" : "0"}${proof.slice(1)}`;
    for (const given of [`rspauth=${other}`, `rspauth=${proof.slice(1)}`, "rspauth=", ""])
      expect(() => client.complete(Buffer.from(given))).toThrow(unproved);
    const early = new DigestMd5({ name: "n", password: "p", offer });
    for (const given of ["", `rspauth=${proof}`]) expect(() => early.complete(Buffer.from(given))).toThrow(unproved);
  });
});

test("a token's name and password are its bytes in base64", async () => {
  const token = { identifier: Buffer.from("id"), password: Buffer.from("pw"), kind: "K", service: "" };
  const strategy = tokenDigest(token, { protections: ["auth"] });
  expect(strategy).toMatchObject({ method: "TOKEN", mechanism: "DIGEST-MD5" });
  const challenge = Buffer.from('nonce="n",qop="auth-conf,auth",cipher=rc4');
  const started = await strategy.start({ ...offer, method: "TOKEN", mechanism: "DIGEST-MD5", challenge });
  const response = parseDirectives((await started?.respond(challenge)) ?? new Uint8Array());
  expect([response.get("username"), response.get("qop"), response.get("digest-uri")]).toEqual([
    "aWQ=",
    "auth",
    "/default",
  ]);
  const same = new DigestMd5({
    ...{ name: "aWQ=", password: "cHc=", offer },
    options: { protections: ["auth"], nonce: () => response.get("cnonce") ?? "" },
  });
  expect(parseDirectives(same.respond(challenge)).get("response")).toBe(response.get("response"));
});

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

  test.each(layers)("%s: an empty message is one too", (cipher) => {
    const client = digestLayer({ hashA1, cipher, peerMaxBytes: 65_536 });
    const server = digestLayer({ hashA1, cipher, peerMaxBytes: 65_536, side: "server" });
    expect(server.unwrap(client.wrap(new Uint8Array()))).toHaveLength(0);
  });

  test("a message too short for a signature, or of no whole blocks, is refused though its number is right", () => {
    const server = () => digestLayer({ hashA1, cipher: "3des", peerMaxBytes: 65_536, side: "server" });
    const trailer = Buffer.from("000100000000", "hex");
    expect(() => server().unwrap(Buffer.concat([Buffer.alloc(9), trailer]))).toThrow("is not the next in sequence");
    expect(() => server().unwrap(Buffer.concat([Buffer.alloc(17), trailer]))).toThrow("is not whole cipher blocks");
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

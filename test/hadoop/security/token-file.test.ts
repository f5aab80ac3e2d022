import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type Credentials, tokenOfKind, withoutMasterRights } from "../../../src/hadoop/security/credentials.ts";
import { TokenKind } from "../../../src/hadoop/security/token.ts";
import { readTokenFile, writeTokenFile } from "../../../src/hadoop/security/token-file.ts";
import { outcomeOf } from "../../support/outcome.ts";

const text = fc.string({ unit: "grapheme", maxLength: 20 });
const bytes = fc.uint8Array({ maxLength: 300 });
const token = fc.record({ identifier: bytes, password: bytes, kind: text, service: text });
const credentials: fc.Arbitrary<Credentials> = fc.record({
  tokens: fc.array(fc.record({ alias: text, token }), { maxLength: 200, size: "small" }),
  secrets: fc.array(fc.tuple(text, bytes), { maxLength: 5 }).map((entries) => new Map(entries)),
});

describe("token files", () => {
  test.each([0, 1] as const)("version %d: what is written is read back", (version) => {
    fc.assert(
      fc.property(credentials, (original) => {
        const file = writeTokenFile(original, version);
        expect(Buffer.from(file.subarray(0, 5))).toEqual(Buffer.from([0x48, 0x44, 0x54, 0x53, version]));
        expect(readTokenFile(file)).toEqual(original);
      }),
    );
  });

  test("version 0 is laid out as org.apache.hadoop.security.Credentials writes it", () => {
    const file = writeTokenFile({
      tokens: [
        { alias: "a", token: { identifier: Buffer.from("id"), password: Buffer.from("pw"), kind: "K", service: "s" } },
      ],
      secrets: new Map([["name", Buffer.alloc(200, 1)]]),
    });
    const expected = `4844545300 01 0161 026964 027077 014b 0173 01 046e616d65 8fc8 ${"01".repeat(200)}`;
    expect(Buffer.from(file).toString("hex")).toBe(expected.replaceAll(" ", ""));
  });

  test.each([0, 1] as const)("version %d: cut short anywhere it is an error that says so", (version) => {
    fc.assert(
      fc.property(credentials, fc.nat(), (original, cut) => {
        const file = writeTokenFile(original, version);
        expect(() => readTokenFile(file.subarray(0, cut % file.length))).toThrow(
          expect.objectContaining({ code: "TOKEN_FILE_MALFORMED" }),
        );
      }),
    );
  });

  test.each([
    ["", /HDTS/],
    ["HDTS", /HDTS/],
    ["HDTX\0\0\0", /HDTS/],
    ["HDTS\x02\0\0", /version 2/],
    ["HDTS\0\xff\0", /damaged/],
  ])("%j is refused", (contents, message) => {
    expect(() => readTokenFile(Buffer.from(contents, "latin1"))).toThrow(message);
  });

  test("version 1: a token or a secret without bytes is passed over, or empty", () => {
    // CredentialsProto of one alias without a token (field 1), and one secret without its bytes (field 2).
    const body = Buffer.from("0a030a0161 12030a0162".replaceAll(" ", ""), "hex");
    const file = Buffer.concat([Buffer.from("HDTS"), Buffer.of(1, body.length), body]);
    expect(readTokenFile(file)).toEqual({ tokens: [], secrets: new Map([["b", new Uint8Array()]]) });
  });

  test("noise is refused, never a hang", () => {
    fc.assert(
      fc.property(fc.constantFrom(0, 1), fc.uint8Array({ maxLength: 100 }), (version, noise) => {
        const file = Buffer.concat([Buffer.from("HDTS"), Buffer.of(version), noise]);
        expect(["returned", "TOKEN_FILE_MALFORMED"]).toContain(outcomeOf(() => readTokenFile(file)));
      }),
    );
  });
});

describe("what an ApplicationMaster holds", () => {
  const masterToken = {
    identifier: Buffer.of(1),
    password: Buffer.of(2),
    kind: TokenKind.applicationMaster,
    service: "",
  };
  const hdfsToken = { ...masterToken, kind: TokenKind.hdfsDelegation, service: "ha-hdfs:main" };
  const held: Credentials = {
    tokens: [
      { alias: "ha-hdfs:main", token: hdfsToken },
      { alias: "", token: masterToken },
    ],
    secrets: new Map([["secret", Buffer.of(3)]]),
  };

  test("its own token is found by kind", () => {
    expect(tokenOfKind(held, TokenKind.applicationMaster)).toEqual(masterToken);
    expect(tokenOfKind(held, TokenKind.client)).toBeUndefined();
  });

  test("what goes on to tasks lacks it, and what YARN's proxy knows the ApplicationMaster by", () => {
    const stores = ["yarn.application.am.keystore", "yarn.application.am.keystore.password"];
    const secrets = new Map([...held.secrets, ...stores.map((name) => [name, Buffer.of(4)] as const)]);
    const tokens = [{ alias: "ha-hdfs:main", token: hdfsToken }];
    expect(withoutMasterRights({ ...held, secrets })).toEqual({ ...held, tokens });
  });
});

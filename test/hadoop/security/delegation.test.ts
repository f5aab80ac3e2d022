import { describe, expect, test } from "@jest/globals";
import { delegationOf } from "../../../src/hadoop/security/delegation.ts";
import { TokenKind } from "../../../src/hadoop/security/token.ts";
import { tokenFromUrlText, tokenToUrlText } from "../../../src/hadoop/security/token-writable.ts";

const token = (kind: string, identifierHex: string) => ({
  identifier: Buffer.from(identifierHex.replaceAll(" ", ""), "hex"),
  password: Buffer.from("pw"),
  kind,
  service: "nn:8020",
});
const alice = Buffer.from("alice@LAB.TEST").toString("hex");
const yarn = Buffer.from("yarn").toString("hex");
const said = { owner: "alice@LAB.TEST", renewer: "yarn", issuedMs: 1_000, maximumMs: 604_801_000 };

describe("what a delegation token says of itself", () => {
  test.each([
    ["an HDFS token", TokenKind.hdfsDelegation, `00 0e${alice} 04${yarn} 00 8e03e8 8c240c87e8 01 02`],
    [
      "a ResourceManager's",
      TokenKind.resourceManagerDelegation,
      `0a0e${alice} 1204${yarn} 1a00 20e807 28e88fb2a002 3001 3802`,
    ],
  ])("%s: whose it is, who may renew it, and until when", (_what, kind, identifier) => {
    expect(delegationOf(token(kind, identifier))).toEqual(said);
  });

  test("what it does not say is nothing and no time, and what is unknown is passed over", () => {
    expect(delegationOf(token(TokenKind.timeline, "0d01020304 090102030405060708 2805"))).toEqual({
      owner: "",
      renewer: "",
      issuedMs: 0,
      maximumMs: 5,
    });
    expect(delegationOf(token(TokenKind.timeline, "2005"))).toMatchObject({ issuedMs: 5, maximumMs: 0 });
  });

  test.each([
    ["of another kind", "MAPREDUCE_DELEGATION_TOKEN", `00 0e${alice} 04${yarn} 00 8e03e8 8c240c87e8 01 02`],
    ["cut short", TokenKind.hdfsDelegation, `00 0e${alice}`],
    ["of another layout", TokenKind.hdfsDelegation, `05 0e${alice} 04${yarn} 00 01 01`],
  ])("nothing, where it is %s", (_what, kind, identifier) => {
    expect(delegationOf(token(kind, identifier))).toBeUndefined();
  });
});

describe("a token in a query", () => {
  test("is read as it was written", () => {
    const written = token("K", "0102ff");
    const read = tokenFromUrlText(tokenToUrlText(written));
    expect({ ...read, identifier: Buffer.from(read.identifier), password: Buffer.from(read.password) }).toEqual(
      written,
    );
  });

  test("has a code of its own when it is none", () => {
    expect(() => tokenFromUrlText("AAA")).toThrow(expect.objectContaining({ code: "TOKEN_MALFORMED" }));
  });
});

import { createHmac } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { clientOfToken, clientTokenPassword } from "../../../src/hadoop/yarn/client-token.ts";

describe("the token by which somebody is known to an ApplicationMaster", () => {
  /** A field of the message: its number and type, its length, its bytes. */
  const field = (tag: number, content: Uint8Array) => Buffer.from([tag, content.length, ...content]);
  const attempt = field(0x0a, Buffer.from([0x08, 0x01]));
  const client = field(0x12, Buffer.from("ada@EXAMPLE.COM"));

  test("says whom it is for, whatever stands before and after that", () => {
    const number = Buffer.from([0x18, 0x07]);
    for (const identifier of [client, Buffer.concat([attempt, client, number]), Buffer.concat([number, client])])
      expect(clientOfToken(identifier)).toBe("ada@EXAMPLE.COM");
  });

  test("is for nobody where it does not say so, or is none", () => {
    for (const identifier of [Buffer.alloc(0), attempt, client.subarray(0, 5), Buffer.from([0xff])])
      expect(clientOfToken(identifier)).toBe("");
  });

  test("has the password that its attempt's key makes of it", () => {
    const key = Buffer.from("key");
    const password = createHmac("sha1", key).update(client).digest();
    expect(Buffer.from(clientTokenPassword(key, client))).toEqual(password);
  });
});

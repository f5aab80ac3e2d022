import { describe, expect, test } from "@jest/globals";
import { desKey, Rc4, tripleDes } from "../../../../src/hadoop/security/sasl/ciphers.ts";

describe("RC4", () => {
  test.each([
    ["Key", "Plaintext", "bbf316e8d940af0ad3"],
    ["Wiki", "pedia", "1021bf0420"],
    ["Secret", "Attack at dawn", "45a01f645fc35b383552544b9bf5"],
  ])("%s", (key, text, expected) => {
    const cipher = new Rc4(Buffer.from(key));
    const halves = [text.slice(0, 3), text.slice(3)].map((half) => cipher.update(Buffer.from(half)));
    expect(Buffer.concat(halves).toString("hex")).toBe(expected);
    expect(new Rc4(Buffer.from(key)).update(Buffer.from(expected, "hex")).toString()).toBe(text);
  });
});

describe("DES keys", () => {
  test("seven bytes spread over eight, each of odd parity", () => {
    expect(desKey(Buffer.alloc(7)).toString("hex")).toBe("0101010101010101");
    expect(desKey(Buffer.alloc(7, 0xff)).toString("hex")).toBe("fefefefefefefefe");
    expect(desKey(Buffer.from("80000000000001", "hex")).toString("hex")).toBe("8001010101010102");
  });

  test("the chain runs on over messages", () => {
    const key = Buffer.from("00112233445566778899aabbccddeeff", "hex");
    const clear = Buffer.from("two blocks here!");
    const whole = tripleDes(key, "encrypt").update(clear);
    const cipher = tripleDes(key, "encrypt");
    expect(Buffer.concat([cipher.update(clear.subarray(0, 8)), cipher.update(clear.subarray(8))])).toEqual(whole);
    expect(tripleDes(key, "decrypt").update(whole)).toEqual(clear);
  });
});

import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { keytabPrincipals } from "../../../../src/hadoop/security/kerberos/keytab.ts";

const text = (value: string) => Buffer.concat([uint16(Buffer.byteLength(value)), Buffer.from(value)]);
const uint16 = (value: number) => Buffer.from([value >> 8, value & 0xff]);
const sized = (size: number, bytes: Buffer) => {
  const head = Buffer.alloc(4);
  head.writeInt32BE(size);
  return Buffer.concat([head, bytes]);
};

/** Type, time, key version and key are of no interest here. */
function entry(realm: string, ...components: string[]): Buffer {
  const bytes = Buffer.concat([uint16(components.length), text(realm), ...components.map(text), Buffer.alloc(20, 7)]);
  return sized(bytes.length, bytes);
}
const keytab = (...entries: Buffer[]) => Buffer.concat([Buffer.from([5, 2]), ...entries]);

test("each principal is named once, in the order of the file; holes are skipped", () => {
  const hole = sized(-9, Buffer.alloc(9, 0xff));
  const bytes = keytab(entry("R", "alice"), hole, entry("R", "alice"), entry("S", "rm", "host"));
  expect(keytabPrincipals(bytes)).toEqual(["alice@R", "rm/host@S"]);
  expect(keytabPrincipals(keytab())).toEqual([]);
});

test.each([
  ["nothing", Buffer.alloc(0)],
  ["text", Buffer.from("127.0.0.1 localhost\n")],
  ["one of version 1", Buffer.from([5, 1, 0, 0])],
  ["one that is cut off", keytab(entry("R", "alice")).subarray(0, 12)],
])("%s is no keytab", (_name, bytes) => {
  expect(keytabPrincipals(bytes)).toBeUndefined();
});

test("any bytes give principals or none, and end", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const principals = keytabPrincipals(Buffer.concat([Buffer.from([5, 2]), bytes]));
      expect(principals === undefined || Array.isArray(principals)).toBe(true);
    }),
  );
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { cachedPrincipal, ticketCache } from "../../../../src/hadoop/security/kerberos/ticket-cache.ts";

const folder = mkdtempSync(path.join(tmpdir(), "tony-ticket-cache-"));
afterAll(() => rmSync(folder, { recursive: true }));

function text(value: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(value.length);
  return Buffer.concat([length, Buffer.from(value)]);
}

const principal = (...components: readonly string[]) =>
  Buffer.concat([Buffer.from([0, 0, 0, 1, 0, 0, 0, components.length]), text("EXAMPLE"), ...components.map(text)]);
const version4 = Buffer.concat([Buffer.from([5, 4, 0, 3, 1, 2, 3]), principal("alice")]);

describe("whose tickets a cache has", () => {
  test("is in its head", () => {
    expect(cachedPrincipal(version4)).toBe("alice@EXAMPLE");
    const version3 = Buffer.concat([Buffer.from([5, 3]), principal("rm", "host")]);
    expect(cachedPrincipal(version3)).toBe("rm/host@EXAMPLE");
  });

  test("is not known of what is no cache, or cut short", () => {
    for (const length of [0, 1, 3, 6, 10, version4.length - 1]) {
      expect(cachedPrincipal(version4.subarray(0, length))).toBeUndefined();
    }
    expect(cachedPrincipal(Buffer.from("keytab"))).toBeUndefined();
  });
});

describe("the cache that is looked in", () => {
  test("is that of KRB5CCNAME, with its owner where it is a file", () => {
    const file = path.join(folder, "tickets");
    writeFileSync(file, version4);
    expect(ticketCache({ KRB5CCNAME: `FILE:${file}` })).toEqual({
      name: `FILE:${file} (KRB5CCNAME)`,
      principal: "alice@EXAMPLE",
    });
    expect(ticketCache({ KRB5CCNAME: file }).principal).toBe("alice@EXAMPLE");
    expect(ticketCache({ KRB5CCNAME: "KCM:7" })).toEqual({ name: "KCM:7 (KRB5CCNAME)", principal: undefined });
  });

  test("is else the library's default", () => {
    expect(ticketCache({}, 7).name).toMatch(/^FILE:\/tmp\/krb5cc_7 \(the default, unless krb5.conf/);
  });
});

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { obtainTokens } from "../../../am/keytab/obtain-tokens.ts";
import { GssError } from "../../../src/hadoop/security/kerberos/gss-api.ts";
import { ScriptedGss } from "../../support/scripted-gss.ts";

/** A keytab of alice@EXAMPLE (MIT Kerberos, keytab_file_format). */
const keytab = (() => {
  const text = (value: string) => Buffer.concat([Buffer.from([0, value.length]), Buffer.from(value)]);
  const entry = Buffer.concat([Buffer.from([0, 1]), text("EXAMPLE"), text("alice"), Buffer.alloc(20)]);
  return Buffer.concat([Buffer.from([5, 2, 0, 0, 0, entry.length]), entry]);
})();

const request = {
  principal: "alice@EXAMPLE",
  keytab: keytab.toString("base64"),
  nativeModule: "/koffi.node",
  user: "alice",
  hadoop: {
    "fs.defaultFS": "hdfs://ns",
    "hadoop.security.authentication": "kerberos",
    "yarn.resourcemanager.hostname": "127.0.0.1",
    "yarn.resourcemanager.address": "127.0.0.1:1",
    "yarn.resourcemanager.principal": "yarn/_HOST@EXAMPLE",
  },
  used: [],
};

test("the keytab is a file without a name while it is used", async () => {
  const read: Buffer[] = [];
  const gss = new ScriptedGss({});
  gss.acquire = async (login) => {
    read.push(readFileSync(login?.keytab ?? ""));
    expect(login?.keytab).toMatch(/^\/proc\/self\/fd\/\d+$/);
    throw new GssError("Clock skew too great");
  };
  const folders = () => readdirSync(".").filter((name) => name.startsWith("login-"));
  const before = folders();
  const descriptors = () =>
    readdirSync("/proc/self/fd")
      .map(linkOf)
      .filter((file) => file.includes("/login-"));
  await expect(obtainTokens(request, async () => gss)).rejects.toThrow(/Cannot log in as alice@EXAMPLE.*Clock skew/);
  expect(read).toEqual([keytab]);
  expect([folders(), descriptors()]).toEqual([before, []]);
});

test("a keytab of another principal is refused before anybody is asked", async () => {
  const other = { ...request, principal: "bob@EXAMPLE" };
  await expect(obtainTokens(other, async () => new ScriptedGss({}))).rejects.toThrow(
    /bob@EXAMPLE: .* is of alice@EXAMPLE/,
  );
});

function linkOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    // The one by which the folder was read.
    return "";
  }
}

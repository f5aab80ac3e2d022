/** Our DIGEST-MD5 against the JDK's own server: every protection and cipher, live. */
import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { DigestMd5, type Protection } from "../../src/hadoop/security/sasl/digest-md5.ts";
import type { DigestCipher } from "../../src/hadoop/security/sasl/digest-md5-layer.ts";
import { testCluster } from "../support/cluster.ts";

const source = fileURLToPath(new URL("../java/sasl/DigestPeer.java", import.meta.url));
const name = Buffer.from("the token's identifier").toString("base64");
const password = Buffer.from("the token's password").toString("base64");
const offer = { protocol: "", serverId: "default" };

let java: string;
let classes: string;
let server: ChildProcessWithoutNullStreams | undefined;

beforeAll(async () => {
  const { javaHome } = await testCluster();
  java = join(javaHome, "bin", "java");
  classes = await mkdtemp(join(tmpdir(), "tony-ts-digest-peer-"));
  await promisify(execFile)(join(javaHome, "bin", "javac"), ["-d", classes, source]);
});

afterAll(() => rm(classes, { recursive: true, force: true }));

afterEach(() => {
  server?.kill();
});

/** The JDK's server, one base64 text a line. */
async function jdkServer(
  qop: string,
): Promise<{ readonly send: (bytes: Uint8Array) => void; readonly next: () => Promise<string> }> {
  const child = spawn(java, [
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-cp",
    classes,
    "DigestPeer",
    "serve",
    qop,
  ]);
  server = child;
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    send: (bytes) => void child.stdin.write(`${Buffer.from(bytes).toString("base64")}\n`),
    next: async () => {
      const { value, done } = await lines.next();
      if (done) throw new Error("the JDK's server ended");
      return value;
    },
  };
}

const decoded = (base64: string) => Buffer.from(base64, "base64");

describe("DIGEST-MD5 against the JDK", () => {
  test.each<[Protection, DigestCipher | undefined]>([
    ["auth", undefined],
    ["auth-int", undefined],
    ["auth-conf", "rc4"],
    ["auth-conf", "3des"],
    ["auth-conf", "des"],
    ["auth-conf", "rc4-56"],
    ["auth-conf", "rc4-40"],
  ])("%s %s: both sides prove themselves and read each other's messages", async (protection, cipher) => {
    const peer = await jdkServer("auth,auth-int,auth-conf");
    const options = { protections: [protection], ...(cipher === undefined ? {} : { ciphers: [cipher] }) };
    const client = new DigestMd5({ name, password, offer, options });
    peer.send(client.respond(decoded(await peer.next())));
    const layer = client.complete(decoded(await peer.next()));
    expect(layer === undefined).toBe(protection === "auth");
    if (layer === undefined) return;
    for (const length of [1, 6, 7, 8, 100, layer.maxMessageBytes]) {
      const message = Buffer.alloc(length, length);
      peer.send(layer.wrap(message));
      expect(layer.unwrap(decoded(await peer.next()))).toEqual(message);
    }
  });

  test("a wrong password is refused by the JDK", async () => {
    const peer = await jdkServer("auth");
    const client = new DigestMd5({ name, password: "wrong", offer });
    peer.send(client.respond(decoded(await peer.next())));
    expect(await peer.next()).toBe("refused");
  });
});

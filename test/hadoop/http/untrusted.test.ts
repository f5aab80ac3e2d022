import { createServer, type Server } from "node:https";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { makeServerKey } from "../../../src/api/server-key.ts";
import { HttpClient } from "../../../src/hadoop/http/client.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";

let server: Server;
let asked = 0;

let certificate: string;

beforeEach(() => {
  const { certificate: cert, privateKey: key } = makeServerKey("localhost", Date.now());
  certificate = cert;
  asked = 0;
  server = createServer({ cert, key }, (_request, answer) => {
    asked += 1;
    answer.end();
  });
});
afterEach(() => void server.close());

/** Asks the server by this name. @param trustedCertificates absent: those that Node trusts */
async function ask(trustedCertificates: string | undefined, host = "localhost") {
  if (!server.listening) await listenLocally(server);
  const credentials = simpleCredentials({ name: "alice" }, { trustedCertificates });
  const client = new HttpClient({ credentials, connectTimeoutMs: 5_000 });
  const url = new URL(`https://${localAddress(server)}/`);
  url.hostname = host;
  try {
    const answer = await client.send(url, { method: "GET", idleTimeoutMs: 5_000 });
    return answer.resume();
  } finally {
    client.close();
  }
}

test("a server whose certificate nobody signed who is trusted is told nothing, and trying again is no use", async () => {
  await expect(ask(undefined)).rejects.toMatchObject({ code: "HTTP_UNTRUSTED", retryable: false });
  expect(asked).toBe(0);
});

test("a server that a given certificate vouches for is asked, but under its own name alone", async () => {
  expect((await ask(certificate)).statusCode).toBe(200);
  await expect(ask(certificate, "127.0.0.1")).rejects.toMatchObject({ code: "HTTP_UNTRUSTED" });
  expect(asked).toBe(1);
});

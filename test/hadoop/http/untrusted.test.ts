import { createServer, type Server } from "node:https";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { makeServerKey } from "../../../src/api/server-key.ts";
import { HttpClient } from "../../../src/hadoop/http/client.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";

let server: Server;
let asked = 0;

beforeEach(() => {
  const { certificate: cert, privateKey: key } = makeServerKey("namenode", Date.now());
  asked = 0;
  server = createServer({ cert, key }, (_request, answer) => {
    asked += 1;
    answer.end();
  });
});
afterEach(() => void server.close());

test("a server whose certificate nobody signed who is trusted is told nothing, and trying again is no use", async () => {
  await listenLocally(server);
  const client = new HttpClient({ credentials: simpleCredentials({ name: "alice" }), connectTimeoutMs: 5_000 });
  const sent = client.send(new URL(`https://${localAddress(server)}/`), { method: "GET", idleTimeoutMs: 5_000 });
  await expect(sent).rejects.toMatchObject({ code: "HTTP_UNTRUSTED", retryable: false });
  expect(asked).toBe(0);
  client.close();
});

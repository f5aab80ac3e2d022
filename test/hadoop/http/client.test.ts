import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { HttpClient } from "../../../src/hadoop/http/client.ts";
import type { CredentialsProvider } from "../../../src/hadoop/security/credentials-provider.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { answer, HostileHttpServer } from "../../support/hostile-http-server.ts";

let server: HostileHttpServer;
const clients: HttpClient[] = [];
beforeAll(async () => {
  server = await HostileHttpServer.start();
});
afterAll(() => server.stop());
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

const asks = answer(401, "", ["WWW-Authenticate: Negotiate"]);

/** The status in the end of a request by one who always has something more to show. */
async function status(changes: Partial<CredentialsProvider> = {}): Promise<number | undefined> {
  const credentials: CredentialsProvider = {
    ...simpleCredentials({ name: "ada" }),
    forHttp: async () => ({ begin: () => ({}), respond: async () => ({ headers: { authorization: "more" } }) }),
    ...changes,
  };
  const client = new HttpClient({ credentials, connectTimeoutMs: 5_000 });
  clients.push(client);
  const found = await client.send(new URL(`${server.address}/x`), { method: "GET", idleTimeoutMs: 5_000 });
  found.resume();
  return found.statusCode;
}

test("a server that asks again and again who we are is told so four times", async () => {
  server.behave(asks);
  expect(await status()).toBe(401);
  expect(server.requests).toHaveLength(5);
});

test("a refusal leads to one more request, where there is something newer to show", async () => {
  const forHttp = async () => ({ begin: () => ({}) });
  server.behave(asks, answer(200, ""));
  expect(await status({ forHttp, renewed: async () => true })).toBe(200);
  server.behave(asks);
  expect(await status({ forHttp, renewed: async () => true })).toBe(401);
  expect(server.requests).toHaveLength(2);
  server.behave(asks);
  expect(await status({ forHttp, renewed: async () => false })).toBe(401);
  expect(server.requests).toHaveLength(1);
});

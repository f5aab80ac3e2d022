import { once } from "node:events";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { HttpClient, type HttpRequest } from "../../../src/hadoop/http/client.ts";
import type {
  CredentialsProvider,
  HttpAuthentication,
  HttpService,
} from "../../../src/hadoop/security/credentials-provider.ts";
import { AuthenticationError } from "../../../src/hadoop/security/errors.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { deferred } from "../../support/deferred.ts";
import { answer, type Behaviour, HostileHttpServer } from "../../support/hostile-http-server.ts";

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

describe("a request", () => {
  type Answers = Parameters<NonNullable<HttpAuthentication["complete"]>>;
  const send = (authentication: HttpAuthentication, request: Partial<HttpRequest> = {}) => {
    const services: HttpService[] = [];
    const forHttp = async (service: HttpService) => {
      services.push(service);
      return authentication;
    };
    const credentials = { ...simpleCredentials({ name: "ada" }), forHttp };
    const client = new HttpClient({ credentials, connectTimeoutMs: 5_000 });
    clients.push(client);
    const url = new URL(`${server.address}/x?op=OPEN`);
    return { answer: client.send(url, { method: "PUT", idleTimeoutMs: 5_000, ...request }), services, url };
  };
  /** The server answers like this, and keeps what it was sent. */
  const keeping = (...behaviours: readonly Behaviour[]) => {
    const heads: string[] = [];
    server.behave(
      ...behaviours.map(
        (behaviour): Behaviour =>
          (socket, request) => {
            heads.push(request);
            behaviour(socket, request);
          },
      ),
    );
    return heads;
  };

  test("carries the caller's headers, and the parameters and headers of the proof, which count more", async () => {
    const heads = keeping(answer(200, ""));
    const begin = () => ({ parameters: { delegation: "a b" }, headers: { cookie: "c", "x-both": "proof" } });
    const headers = { "x-caller": "1", "x-both": "caller" };
    await send({ begin }, { headers }).answer;
    expect(server.requests).toEqual(["PUT /x?op=OPEN&delegation=a+b"]);
    expect(heads[0]).toMatch(/\r\ncookie: c\r\n/);
    expect(heads[0]).toMatch(/\r\nx-caller: 1\r\n/);
    expect(heads[0]).toMatch(/\r\nx-both: proof\r\n/);
  });

  test("is authenticated as what it is", async () => {
    server.behave(answer(200, ""));
    const {
      answer: answered,
      services,
      url,
    } = send({ begin: () => ({}) }, { tokenService: "ha-hdfs:ns", redirected: true, mayBeOpen: true });
    await answered;
    expect(services).toEqual([
      { transport: "http", url, tokenService: "ha-hdfs:ns", redirected: true, mayBeOpen: true },
    ]);
    const plain = send({ begin: () => ({}) });
    await plain.answer;
    expect(plain.services).toMatchObject([{ redirected: false }]);
  });

  test("to where a redirect leads says who asks only when it is asked", async () => {
    server.behave(asks, answer(200, ""));
    const authentication: HttpAuthentication = {
      begin: () => ({ parameters: { name: "ada" } }),
      respond: async () => ({ parameters: { asked: "yes" } }),
    };
    await send(authentication, { redirected: true }).answer;
    expect(server.requests).toEqual(["PUT /x?op=OPEN", "PUT /x?op=OPEN&asked=yes"]);
  });

  test("is repeated with its body from the start, and each challenge is answered", async () => {
    const challenged = answer(401, "", ["WWW-Authenticate: Negotiate", "WWW-Authenticate: Basic realm=x"]);
    const heads = keeping(challenged, answer(200, ""));
    const challenges: (readonly string[])[] = [];
    let opened = 0;
    await send(
      {
        begin: () => ({}),
        respond: async (asked) => {
          challenges.push(asked);
          return { headers: { authorization: "proof" } };
        },
      },
      {
        body: () => {
          opened += 1;
          return { stream: Readable.from([Buffer.from("abc")]), lengthBytes: 3 };
        },
      },
    ).answer;
    expect(challenges).toEqual([["Negotiate", "Basic realm=x"]]);
    expect(opened).toBe(2);
    expect(heads[0]).not.toContain("authorization: proof");
    expect(heads[1]).toContain("authorization: proof");
  });

  test("is not repeated where there is nothing to say to a challenge", async () => {
    server.behave(asks);
    expect((await send({ begin: () => ({}), respond: async () => undefined }).answer).statusCode).toBe(401);
    expect((await send({ begin: () => ({}) }).answer).statusCode).toBe(401);
    expect(server.requests).toHaveLength(2);
  });

  test("shows the server's proof to who asked for it, whatever the answer", async () => {
    const completed: Answers[] = [];
    const complete = (...answers: Answers) => void completed.push(answers);
    server.behave(answer(403, "", ["X-Proof: p"]));
    expect((await send({ begin: () => ({}), complete }).answer).statusCode).toBe(403);
    expect(completed).toEqual([[expect.objectContaining({ "x-proof": "p" }), 403]]);
    server.behave(asks);
    await send({ begin: () => ({}), complete }).answer;
    expect(completed).toHaveLength(1);
  });

  test.each(["begin", "respond", "complete"] as const)("fails where a provider fails to %s", async (step) => {
    const fail = () => Promise.reject(new Error("no library"));
    server.behave(step === "respond" ? asks : answer(200, ""));
    await expect(send({ begin: () => ({}), [step]: fail }).answer).rejects.toMatchObject({
      name: "AuthenticationError",
      code: "HTTP_AUTHENTICATION",
      message: "The credentials cannot be used: no library",
    });
  });

  test("whose server does not prove itself gives up the answer, and its connection", async () => {
    const closed = deferred();
    server.behave((socket) => {
      socket.once("close", closed.resolve);
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
    });
    const complete = () => Promise.reject(new AuthenticationError("not proved", { code: "SERVER_NOT_PROVED" }));
    await expect(send({ begin: () => ({}), complete }).answer).rejects.toMatchObject({ code: "SERVER_NOT_PROVED" });
    await closed.promise;
  });
});

test("a refusal is told to who may have newer credentials, with what was asked", async () => {
  server.behave(asks);
  const told: unknown[][] = [];
  const renewed = async (...refusal: unknown[]) => {
    told.push(refusal);
    return false;
  };
  await status({ forHttp: async () => ({ begin: () => ({}) }), renewed });
  expect(told).toEqual([
    [
      expect.objectContaining({ transport: "http", url: new URL(`${server.address}/x`) }),
      expect.objectContaining({
        code: "HTTP_AUTHENTICATION",
        message: `${new URL(server.address).host} answered HTTP 401`,
      }),
    ],
  ]);
});

test("a caller that gives up ends its request", async () => {
  const caller = new AbortController();
  server.behave(() => caller.abort());
  const client = new HttpClient({ credentials: simpleCredentials({ name: "ada" }), connectTimeoutMs: 5_000 });
  clients.push(client);
  const request = { method: "GET", idleTimeoutMs: 5_000, signal: caller.signal };
  await expect(client.send(new URL(`${server.address}/x`), request)).rejects.toMatchObject({ name: "AbortError" });
});

test("connections are kept until the client is closed", async () => {
  const sockets = new Set<Socket>();
  const closed = deferred();
  server.behave((socket, request) => {
    sockets.add(socket.once("close", closed.resolve));
    answer(200, "")(socket, request);
  });
  const client = new HttpClient({ credentials: simpleCredentials({ name: "ada" }), connectTimeoutMs: 5_000 });
  for (let time = 0; time < 2; time += 1) {
    const found = await client.send(new URL(`${server.address}/x`), { method: "GET", idleTimeoutMs: 5_000 });
    await once(found.resume(), "close");
  }
  expect(sockets.size).toBe(1);
  client.close();
  await closed.promise;
});

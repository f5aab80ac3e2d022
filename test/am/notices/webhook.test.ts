import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "@jest/globals";
import { Webhook } from "../../../am/notices/webhook.ts";
import { deferred } from "../../support/deferred.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";

interface Posted {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let server: Server | undefined;
afterEach(() => void server?.closeAllConnections());
afterEach(() => void server?.close());

/** A receiver that answers one post after the other with these; `silent`: never. */
async function receiver(...answers: readonly (number | "silent")[]) {
  const posted: Posted[] = [];
  server = createServer((request, response) => {
    void text(request).then((body) => {
      const answer = answers[posted.length] ?? 200;
      posted.push({ headers: request.headers, body });
      if (answer !== "silent") response.writeHead(answer).end("thanks");
    });
  });
  await listenLocally(server);
  return { posted, url: new URL(`http://${localAddress(server)}/hook?secret=1`) };
}

function webhookTo(url: URL, key?: Uint8Array) {
  const warnings: string[] = [];
  const pauses: number[] = [];
  const clock = {
    random: () => 1,
    sleep: async (ms: number) => {
      pauses.push(ms);
    },
  };
  return {
    webhook: new Webhook({ url, key, clock, warn: (message) => void warnings.push(message) }),
    warnings,
    pauses,
  };
}

const message = (id: string) => ({
  id,
  event: "started",
  atMs: 1_795_305_600_999,
  body: { event: "started", text: "bert läuft" },
});

test("messages arrive one after the other, in their order, and those that come later, too", async () => {
  const { posted, url } = await receiver();
  const { webhook } = webhookTo(url);
  for (const ids of [["1", "2"], ["3"], ["4", "5"]]) {
    for (const id of ids) webhook.send(message(id));
    await webhook.settled();
  }
  expect(posted.map(({ headers }) => headers["webhook-id"])).toEqual(["1", "2", "3", "4", "5"]);
});

test("of what was taken nothing is given up", async () => {
  const { url } = await receiver();
  const { webhook, warnings } = webhookTo(url);
  webhook.send(message("1"));
  await webhook.settled();
  webhook.giveUp();
  expect(warnings).toEqual([]);
});

test("a message is signed by its id, time and body", async () => {
  const { posted, url } = await receiver();
  const { webhook } = webhookTo(url, Buffer.from("hunter2"));
  webhook.send(message("application_1.started"));
  await webhook.settled();
  const [{ headers, body } = { headers: {}, body: "" }] = posted;
  expect(JSON.parse(body)).toEqual({ event: "started", text: "bert läuft" });
  const signed = createHmac("sha256", "hunter2").update(`application_1.started.1795305600.${body}`).digest("base64");
  expect(headers).toMatchObject({
    "content-type": "application/json",
    "webhook-id": "application_1.started",
    "webhook-timestamp": "1795305600",
    "webhook-signature": `v1,${signed}`,
  });
});

test("what is not taken is tried again, later each time, and the next one waits for it", async () => {
  const { posted, url } = await receiver(500, 425);
  const { webhook, warnings, pauses } = webhookTo(url);
  for (const id of ["a", "b"]) webhook.send(message(id));
  await webhook.settled();
  expect(posted.map(({ headers }) => headers["webhook-id"])).toEqual(["a", "a", "a", "b"]);
  expect(posted[0]?.headers["webhook-signature"]).toBeUndefined();
  expect([pauses, warnings]).toEqual([[1_000, 2_000], []]);
});

test("a refusal is final, and the address is not told", async () => {
  const { posted, url } = await receiver(404);
  const { webhook, warnings } = webhookTo(url);
  webhook.send(message("a"));
  await webhook.settled();
  expect(posted).toHaveLength(1);
  expect(warnings).toEqual([`The notice started was not taken, after 1 try: ${url.host} answered HTTP 404.`]);
});

test("a receiver that is not there is given up after five tries", async () => {
  const { url } = await receiver();
  server?.close();
  const { webhook, warnings, pauses } = webhookTo(url);
  webhook.send(message("a"));
  await webhook.settled();
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000]);
  expect(warnings).toEqual([expect.stringContaining("after 5 tries")]);
});

test("no more than a hundred wait for a receiver that does not answer: the oldest are given up", async () => {
  const { url } = await receiver("silent");
  const { webhook, warnings } = webhookTo(url);
  for (let id = 0; id < 102; id += 1) webhook.send(message(String(id)));
  expect(warnings).toEqual([`The notice started is given up: ${url.host} is too slow, and 100 others wait.`]);
  server?.closeAllConnections();
  server?.close();
  await webhook.settled();
});

test("what was not taken when nobody waits any longer is told one by one, with what is known of it", async () => {
  const { posted, url } = await receiver(503);
  const warnings: string[] = [];
  const { promise: paused, resolve: pause } = deferred();
  const clock = {
    random: () => 1,
    sleep: () => {
      pause();
      return new Promise<void>(() => {});
    },
  };
  const webhook = new Webhook({ url, key: undefined, clock, warn: (told) => void warnings.push(told) });
  webhook.send(message("a"));
  webhook.send({ ...message("b"), event: "ended" });
  await paused;
  webhook.giveUp();
  expect(posted).toHaveLength(1);
  expect(warnings).toEqual([
    `The notice started was not taken by the job's end: ${url.host} answered HTTP 503.`,
    "The notice ended was not taken by the job's end: it waited for the one before it.",
  ]);
});

test("a receiver that is silent is told of, and a late refusal of its is not told again", async () => {
  const { url } = await receiver("silent");
  const { webhook, warnings } = webhookTo(url);
  webhook.send(message("a"));
  webhook.giveUp();
  server?.closeAllConnections();
  server?.close();
  await webhook.settled();
  expect(warnings).toEqual([`The notice started was not taken by the job's end: ${url.host} has not answered.`]);
});

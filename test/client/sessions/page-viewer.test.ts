import { once } from "node:events";
import { createServer, request } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { PageViewer } from "../../../client/sessions/page-viewer.ts";
import { deferred } from "../../support/deferred.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";

const server = createServer();
beforeEach(() => listenLocally(server));
afterEach(() => void server.close());

/** A page that looks on, and who answers its questions, in their order. */
async function viewing(questions: readonly (() => Promise<string>)[]) {
  const left = [...questions];
  const ask = async () => await (left.shift()?.() ?? Promise.reject(new Error("asked too often")));
  const [host, port] = localAddress(server).split(":");
  const sent = request({ host, port, agent: false });
  sent.end();
  const [, response] = await once(server, "request");
  const viewer = new PageViewer({ response, query: new URLSearchParams(), ask, gatherMs: 0 });
  const [heard] = await once(sent, "response");
  return { viewer, heard };
}

test("a page hears the last word although a question of its own fails while that is found out", async () => {
  const [ownAsked, own, last] = [deferred(), deferred<string>(), deferred<string>()];
  const asksItself = async () => {
    ownAsked.resolve();
    return await own.promise;
  };
  const { viewer, heard } = await viewing([asksItself, () => last.promise]);
  await ownAsked.promise;
  const isClosed = viewer.end("the job has ended");
  own.reject(new Error("the ApplicationMaster is gone"));
  await own.promise.catch(() => undefined);
  last.resolve('{"rev":7}');
  expect(await text(heard)).toBe('data: {"rev":7,"isClosed":true,"error":"the job has ended"}\n\n');
  await isClosed;
});

test("a page whose question fails otherwise finds its stream ended, and asks again itself", async () => {
  const { heard } = await viewing([() => Promise.reject(new Error("lost"))]);
  expect(await text(heard)).toBe("");
});

test("a page is asked for one answer at a time, however often its job changes meanwhile", async () => {
  const [asked, first] = [deferred(), deferred<string>()];
  const pending = async () => {
    asked.resolve();
    return await first.promise;
  };
  const { viewer, heard } = await viewing([pending, async () => '{"rev":2}', async () => '{"rev":3}']);
  expect(heard).toMatchObject({
    statusCode: 200,
    headers: { "content-type": "text/event-stream", "cache-control": "no-store", connection: "close" },
  });
  await asked.promise;
  viewer.changed();
  viewer.changed();
  const events = heard.setEncoding("utf8")[Symbol.asyncIterator]();
  first.resolve('{"rev":1}');
  expect((await events.next()).value).toBe('data: {"rev":1}\n\n');
  viewer.changed();
  expect((await events.next()).value).toBe('data: {"rev":2}\n\n');
  const isClosed = viewer.end("the job has ended");
  expect((await events.next()).value).toContain('"rev":3,"isClosed":true');
  expect((await events.next()).done).toBe(true);
  await isClosed;
});

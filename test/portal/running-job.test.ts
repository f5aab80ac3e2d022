import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { RunningJobs } from "../../portal/running-job.ts";
import { HttpClient } from "../../src/hadoop/http/client.ts";
import { simpleCredentials } from "../../src/hadoop/security/simple-credentials.ts";
import { aReport } from "../client/application-report.ts";
import { eventually } from "../support/eventually.ts";
import { HistoryFolder } from "./history-folder.ts";

const id = "application_1_0001";
let history: HistoryFolder;
let proxy: Server;
let seen: IncomingMessage[];
let serve: (response: ServerResponse) => void;
let trackingUrl: string;
let http: HttpClient;
let jobs: RunningJobs;

beforeEach(async () => {
  history = new HistoryFolder();
  seen = [];
  serve = (response) => response.end(`{"rev":7}`);
  proxy = createServer((request, response) => {
    seen.push(request);
    serve(response);
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  trackingUrl = `http://127.0.0.1:${port}/proxy/${id}/`;
  http = new HttpClient({ credentials: simpleCredentials({ name: "portal" }), connectTimeoutMs: 5_000 });
  jobs = new RunningJobs(http, history.fileSystem);
});
afterEach(() => {
  http.close();
  proxy.close();
  proxy.closeAllConnections();
  history.remove();
});

const running = () => aReport({ id, state: "RUNNING", trackingUrl });

async function folderWith(key: string): Promise<string> {
  const folder = history.write({ number: 1 });
  await history.fileSystem.create(`${folder}/page.key`, Buffer.from(key), { permission: 0o660 });
  return folder;
}

test("a running job's page is asked at YARN's proxy with the key that lies beside its history", async () => {
  const page = await jobs.pageOf(running(), await folderWith("a-key_1"));
  expect(page).toEqual({ url: trackingUrl, key: "a-key_1" });
  expect(await jobs.ask(id, page ?? { url: "" }, "api/v1/live?since=3&sort=cpu")).toEqual({ rev: 7 });
  expect(seen[0]?.url).toContain(`/proxy/${id}/api/v1/live?since=3&sort=cpu`);
  // The proxy passes on what is spelled so, and shows who is not the job's user a warning instead, unless he has seen it.
  expect(seen[0]?.rawHeaders).toEqual(expect.arrayContaining(["Accept", "application/json; key=a-key_1"]));
  expect(seen[0]?.headers.cookie).toContain(`checked_${id}=true`);
});

test("a job that does not run yet, or has ended, has none; one without a key is not asked", async () => {
  const folder = history.write({ number: 1 });
  expect(await jobs.pageOf(aReport({ id, state: "ACCEPTED", trackingUrl }), folder)).toBeUndefined();
  expect(await jobs.pageOf(aReport({ id, state: "FINISHED", trackingUrl }), folder)).toBeUndefined();
  expect(await jobs.pageOf(aReport({ id, state: "RUNNING", trackingUrl: "N/A" }), folder)).toBeUndefined();
  const page = await jobs.pageOf(running(), folder);
  expect(page).toEqual({ url: trackingUrl });
  await expect(jobs.ask(id, { url: trackingUrl }, "api/v1/live")).rejects.toThrow("tony.am.page.enabled=true");
  expect(seen).toEqual([]);
});

test("a page to which the proxy proves who asks is asked without a key: it says whether the portal's user may see the job", async () => {
  const page = await jobs.pageOf({ ...running(), servesHttps: true }, history.write({ number: 1 }));
  expect(page).toEqual({ url: trackingUrl, knowsViewers: true });
  serve = (response) => response.end(`{"rev":7,"mayLook":true}`);
  expect(await jobs.ask(id, page ?? { url: "" }, "api/v1/live")).toEqual({ rev: 7, mayLook: true });
  expect(seen[0]?.headers.accept).toBe("application/json");
  serve = (response) => response.end(`{"rev":7,"mayLook":false}`);
  await expect(jobs.ask(id, page ?? { url: "" }, "api/v1/live")).rejects.toThrow("tony.application.acl.view");
});

test("a job that has no ApplicationMaster on the cluster has none: its address is one that its owner chose", async () => {
  const anywhere = `http://127.0.0.1:${new URL(trackingUrl).port}/jobs/application_1_0002/`;
  const report = aReport({ id, state: "RUNNING", trackingUrl: anywhere, unmanaged: true });
  expect(await jobs.pageOf(report, await folderWith("a-key_1"))).toBeUndefined();
});

test.each([
  ["words", "two words"],
  ["more than a key", "x".repeat(5_000)],
  ["lines", "a\r\nb"],
])("what is no key is none: %s", async (_what, key) => {
  expect(await jobs.pageOf(running(), await folderWith(key))).toEqual({ url: trackingUrl });
});

test.each<[string, (response: ServerResponse) => void, string]>([
  ["a page of HTML", (response) => response.end("<html>"), "not valid JSON"],
  ["a list", (response) => response.end("[]"), "must be an object"],
  ["an error", (response) => response.writeHead(500).end("{}"), "HTTP 500"],
  ["a redirect", (response) => response.writeHead(302, { Location: "http://127.0.0.1:1/" }).end("{}"), "HTTP 302"],
  ["more than any page says", (response) => response.end(`{"a":"${"x".repeat(5 * 2 ** 20)}"}`), "more than"],
  ["nothing", (response) => response.destroy(), "does not answer"],
])("%s is no answer", async (_what, answer, words) => {
  serve = answer;
  await expect(jobs.ask(id, { url: trackingUrl, key: "k" }, "api/v1/live")).rejects.toMatchObject({
    code: "NO_ANSWER",
    message: expect.stringContaining(words),
  });
});

test("who was answered takes no place from one that still waits", async () => {
  const ask = () => jobs.ask(id, { url: trackingUrl, key: "k" }, "api/v1/live");
  let slow: ServerResponse | undefined;
  serve = (response) => {
    slow = response;
  };
  const first = ask();
  await eventually("it is asked", () => slow !== undefined);
  serve = (response) => response.end("{}");
  for (let times = 0; times < 9; times += 1) expect(await ask()).toEqual({});
  slow?.end('{"rev":1}');
  expect(await first).toEqual({ rev: 1 });
});

test("a job whose page is slow keeps nobody from asking others: a few are asked at once, and the oldest goes for a new one", async () => {
  const held: ServerResponse[] = [];
  // It has begun, and does not go on.
  serve = (response) => {
    held.push(response);
    response.write("{");
  };
  const ask = () => jobs.ask(id, { url: trackingUrl, key: "k" }, "api/v1/live");
  const asked = Array.from({ length: 8 }, async () => ({ answer: await ask().catch(String) }));
  await eventually("all are asked", () => held.length === 8);
  serve = (response) => response.end("{}");
  expect(await ask()).toEqual({});
  for (const response of held) response.end("}");
  const answers = (await Promise.all(asked)).map(({ answer }) => answer);
  expect(answers.filter((answer) => typeof answer === "string")).toEqual([expect.stringContaining("it is too slow")]);
});

import { createServer, type ServerResponse } from "node:http";
import { describe, expect, test } from "@jest/globals";
import { contentPolicy, isPageProof, protect, sendJson, sendPage, settingsAnswer } from "../../src/page/answers.ts";
import { listenLocally, localAddress } from "../support/local-port.ts";

/** An answer, as who asked for it gets it. */
async function answered(send: (response: ServerResponse) => void) {
  const server = createServer((_request, response) => send(response));
  await listenLocally(server);
  const response = await fetch(`http://${localAddress(server)}`);
  const body = await response.text();
  server.close();
  server.closeAllConnections();
  return { status: response.status, headers: Object.fromEntries(response.headers), body };
}

describe("whoever asks with a key", () => {
  test.each([
    ["application/json; key=k-1_", true],
    ["application/json; key=k-1", false],
    ["application/json; key=", false],
    ["application/json", false],
    ["key=k-1_", false],
    [undefined, false],
  ])("%s shows it", (accept, isProof) => {
    expect(isPageProof(accept, "k-1_")).toBe(isProof);
  });
});

test("an answer is taken for nothing else, and tells nobody where it came from", async () => {
  const { headers } = await answered((response) => {
    protect(response);
    response.end();
  });
  expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });
});

test("facts are kept by nobody, a page for a while by who asked for it, with its policy", async () => {
  const facts = await answered((response) => sendJson(response, 404, { error: "ä" }));
  expect([facts.status, facts.body]).toEqual([404, '{"error":"ä"}']);
  expect(facts.headers).toMatchObject({
    "cache-control": "no-store",
    "content-type": "application/json; charset=utf-8",
    "content-length": "14",
  });
  const html = Buffer.from("<style>a</style><script>1</script><script>2</script>");
  const page = await answered((response) => sendPage(response, html, contentPolicy(html)));
  expect([page.status, page.body]).toEqual([200, html.toString()]);
  expect(page.headers).toMatchObject({
    "cache-control": "private, max-age=300",
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": expect.stringMatching(/; script-src 'sha256-[^']+' 'sha256-[^']+'; style-src 'sha256-/),
  });
});

test.each([
  ["none", undefined, { error: "The job left no settings" }],
  ["a job's own", Buffer.from("<configuration/>"), { xml: "<configuration/>" }],
  ["a hand-written file that declares something", Buffer.from("<!DOCTYPE a>"), { error: /not in a file of ours/ }],
  ["as many as a page can show", Buffer.alloc(2 ** 20, "x"), { xml: /^x+$/ }],
  ["more than that", Buffer.alloc(2 ** 20 + 1, "x"), { error: /1048577 bytes: too many/ }],
])("settings are answered: %s", (_, content, expected) => {
  const [[name, value] = []] = Object.entries(settingsAnswer(content));
  const [[wanted, words] = []] = Object.entries(expected);
  expect([name, value]).toEqual([wanted, words instanceof RegExp ? expect.stringMatching(words) : words]);
});

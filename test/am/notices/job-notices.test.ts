import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { json } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { JobNotices } from "../../../am/notices/job-notices.ts";
import { programSecrets } from "../../../src/job/launch/program-secrets.ts";
import { aJobStatus, allSucceeded, noonishMs } from "../../client/job-status.ts";
import { aJobSpec } from "../../support/job-spec.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";
import { silentLog } from "../../support/silent-log.ts";

let server: Server;
let posted: { readonly headers: IncomingHttpHeaders; readonly body: unknown }[];
beforeEach(async () => {
  posted = [];
  server = createServer((request, response) => {
    void json(request).then((body) => {
      posted.push({ headers: request.headers, body });
      response.end();
    });
  });
  await listenLocally(server);
});
afterEach(() => void server.close());

const generations = [{ generation: 1, startedAtMs: noonishMs, runningAtMs: noonishMs + 1_000 }];

function noticesOf(secrets: ReadonlyMap<string, string>, lost: string[] = []): JobNotices {
  const spec = aJobSpec();
  return new JobNotices({
    job: { spec: { ...spec, am: { ...spec.am, notifyWaitingMs: 600_000 } }, user: "ada" },
    url: `http://${localAddress(server)}/`,
    secrets: programSecrets(secrets),
    rateOf: () => undefined,
    clock: { nowMs: () => noonishMs },
    log: { ...silentLog, warn: (event, message) => void lost.push(`${event}: ${message}`) },
  });
}

test("what is seen of the job is posted, in the order in which it happened, and all of it by the end", async () => {
  const notices = noticesOf(new Map());
  for (const _ of [1, 2]) notices.look(aJobStatus({ generations }));
  const outcome = { ...allSucceeded, endedAtMs: noonishMs + 60_000 };
  await notices.end(aJobStatus({ generations, outcome }));
  const job = { applicationId: "application_1795305600000_0009", attempt: 1, name: "bert", queue: "ml", user: "ada" };
  expect(posted.map(({ body }) => body)).toEqual([
    {
      version: 1,
      event: "started",
      atMs: noonishMs + 1_000,
      ...job,
      text: "bert (application_1795305600000_0009): All 3 programs run",
    },
    {
      version: 1,
      event: "ended",
      atMs: noonishMs + 60_000,
      result: "succeeded",
      ...job,
      text: "bert (application_1795305600000_0009): SUCCEEDED after 1 min: 2 of 2 tasks exited 0",
    },
  ]);
  expect(posted[0]?.headers["webhook-id"]).toBe(`application_1795305600000_0009.started.${noonishMs + 1_000}`);
});

test("what an earlier attempt saw is not posted; two of a kind have ids of their own, and the text says what helps", async () => {
  const notices = noticesOf(new Map());
  const wait = { what: "containers", cause: "containers", delays: [], reasons: [], remedy: "ask for less" };
  const waits = (sinceMs: number) => [{ ...wait, sinceMs, reason: { code: "registration" } as const }];
  const before = [{ generation: 1, startedAtMs: noonishMs - 2, runningAtMs: noonishMs - 1 }];
  for (const minute of [10, 30]) {
    const at = noonishMs + minute * 60_000;
    notices.look(aJobStatus({ generations: before, nowMs: at, waits: waits(at - 600_000) }));
    notices.look(aJobStatus({ generations: before, nowMs: at + 1, waits: [] }));
  }
  await notices.end(aJobStatus({ generations: before, nowMs: noonishMs + 1_860_000 }));
  expect(posted.map(({ headers }) => headers["webhook-id"])).toEqual(
    [10, 30].map((minute) => `application_1795305600000_0009.waiting.${noonishMs + minute * 60_000}`),
  );
  expect(posted[0]?.body).toMatchObject({
    text: "bert (application_1795305600000_0009): Waits for containers since 10 min → ask for less",
    remedy: "ask for less",
  });
});

test.each([
  ["hunter2", "the bytes of the secret"],
  [`whsec_${Buffer.from("hunter2").toString("base64")}`, "what is encoded in it"],
])("%s signs by %s", async (key) => {
  await noticesOf(new Map([["TONY_NOTIFY_KEY", key]])).end(aJobStatus({ generations }));
  const [{ headers, body } = { headers: {}, body: undefined }] = posted;
  const { "webhook-id": id, "webhook-timestamp": time } = headers;
  const signed = createHmac("sha256", "hunter2")
    .update(`${id}.${time}.${JSON.stringify(body)}`)
    .digest("base64");
  expect(headers["webhook-signature"]).toBe(`v1,${signed}`);
});

test("what has not been taken when nobody waits any longer is given up, and told", () => {
  const lost: string[] = [];
  const notices = noticesOf(new Map(), lost);
  notices.look(aJobStatus({ generations }));
  notices.giveUp();
  expect(lost).toEqual([
    `notice-lost: The notice started was not taken by the job's end: ${localAddress(server)} has not answered.`,
  ]);
});

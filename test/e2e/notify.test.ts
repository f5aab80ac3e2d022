import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { listenLocally, localAddress } from "../support/local-port.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();

/** What a job posts, with whether it was signed by the key; the receiver of `hangs` never answers. */
async function receiver(key: string, { hangs = false } = {}) {
  const posted: { readonly event: string; readonly text: string; readonly isSigned: boolean }[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": signature } = request.headers;
      const signed = createHmac("sha256", key).update(`${id}.${time}.${body}`).digest("base64");
      posted.push({ ...JSON.parse(body), isSigned: signature === `v1,${signed}` });
      if (!hangs) response.end();
    });
  });
  await listenLocally(server);
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { posted, url: `http://${localAddress(server)}/`, close };
}

describe("a job with a webhook", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("posts its start, its first failure and its end, signed", async () => {
    const { posted, url, close } = await receiver("hunter2");
    const job = alice.job("noticed", { ...oneTask, "tony.worker.command": "exit 3", "tony.notify.url": url });
    await alice.startWith({ KEY: "hunter2" }, "submit", job, "--secret", "TONY_NOTIFY_KEY=env:KEY").ended;
    await eventually("the end", () => posted.some(({ event }) => event === "ended") || undefined);
    close();
    expect(posted).toMatchObject([
      { event: "started", isSigned: true },
      {
        event: "first-failure",
        isSigned: true,
        tasks: ["worker:0"],
        text: expect.stringMatching(/^noticed \(application_\d+_\d+\): worker:0/),
      },
      { event: "ended", isSigned: true, result: "failed" },
    ]);
  });

  test("does not wait for a receiver that hangs", async () => {
    const { posted, url, close } = await receiver("hunter2", { hangs: true });
    const job = alice.job("unheard", { ...oneTask, "tony.worker.command": "sleep 6", "tony.notify.url": url });
    const { exitCode } = await alice.run("submit", job);
    close();
    expect(exitCode).toBe(0);
    expect(new Set(posted.map(({ event }) => event))).toEqual(new Set(["started"]));
  });
});

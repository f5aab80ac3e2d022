import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { get as getTls } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { json } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { JobPage } from "../../../am/page/job-page.ts";
import { clientAccess, makeIdentity, pageKey } from "../../../src/api/identity.ts";
import type { Log } from "../../../src/log.ts";
import { aJobStatus } from "../../client/job-status.ts";
import { aJobSpec } from "../../support/job-spec.ts";
import { silentLog } from "../../support/silent-log.ts";

let folder = "";
let nowMs = 0;
beforeEach(() => {
  nowMs = 0;
  folder = mkdtempSync(path.join(tmpdir(), "tony-page-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const identity = makeIdentity("application_1_0001");
const said: string[] = [];
/** About whom it was asked whether he may see the job. */
const looked: string[] = [];
const log: Log = { ...silentLog, warn: (event) => void said.push(event) };

function pageOf(
  file: string,
  states: string[] = [],
  {
    isSecured = false,
    page,
    keyStore,
    knowsViewers = false,
  }: { isSecured?: boolean; page?: boolean; keyStore?: string; knowsViewers?: boolean } = {},
) {
  const spec = aJobSpec();
  return new JobPage({
    job: { spec: page === undefined ? spec : { ...spec, am: { ...spec.am, page } }, user: "ada" },
    isSecured,
    settings: {
      host: "127.0.0.1",
      ...(keyStore === undefined ? {} : { keyStore: { file: keyStore, password: "changeit" } }),
    },
    identity,
    ...(knowsViewers && {
      maySee: async (user: string) => {
        looked.push(user);
        return user === "ada";
      },
    }),
    history: {
      lastEvents: [{ type: "recovered", containers: 2, atMs: 5, generation: 1 }],
      settings: async () => Buffer.from("<configuration/>"),
    },
    readLog: ({ task }, reader) => {
      reader.fail(`${task} has no executor`);
      return () => undefined;
    },
    series: { seriesOf: () => ({ fromMs: 0, spanMs: 5_000, series: [] }) },
    status: () => {
      states.push("asked");
      const status = aJobStatus({});
      return { ...status, tasks: status.tasks.map((task, index) => ({ ...task, containerId: `c${index}` })) };
    },
    clock: { nowMs: () => nowMs },
    log,
    file,
  });
}

describe("a job's page", () => {
  test("is served where its file is; the owner's key shows the job, and many viewers cost one look at it", async () => {
    const file = path.join(folder, "page.html");
    writeFileSync(file, "<html></html>");
    const states: string[] = [];
    const url = await pageOf(file, states).open();
    const ask = (accept: string, path = "live") =>
      new Promise((resolve, reject) => {
        const headers = { accept };
        get(`${url}api/v1/${path}`, { headers }, (response) => resolve(json(response))).on("error", reject);
      });
    const key = pageKey(clientAccess(identity));
    const proof = `application/json; key=${key}`;
    const events = [{ atMs: 5, generation: 1, text: "recovered: containers 2" }];
    expect(await ask(proof)).toMatchObject({ mayLook: true, status: { state: "running" }, events, logs: "live" });
    expect(await ask(proof, "settings")).toEqual({ xml: "<configuration/>" });
    const [first] = aJobStatus({}).tasks;
    expect(await ask(proof, `logs?of=${first?.task}~stderr~-10`)).toEqual({
      parts: [
        {
          ...{ task: first?.task, stream: "stderr", containerId: "c0" },
          ...{ next: 0, text: "", missingBytes: 0, trouble: `${first?.task} has no executor` },
        },
      ],
    });
    expect(await ask(proof, "metrics")).toEqual({
      gauges: expect.arrayContaining([
        { name: "tony.tasks", points: expect.arrayContaining([[{ role: "ps", state: "running" }, 1]]) },
      ]),
    });
    expect(await ask(proof, "metrics?tasks=all")).toMatchObject({ tasks: [{ task: first?.task }, {}, {}] });
    expect(await ask("application/json")).toMatchObject({ mayLook: false, job: { user: "ada" } });
    expect(states).toHaveLength(1);
  });

  test("tells of the job's end at once", async () => {
    const states: string[] = [];
    const page = pageOf("", states);
    await page.ask("live");
    await page.ask("live");
    expect(states).toHaveLength(1);
    page.ended();
    await page.ask("live");
    expect(states).toHaveLength(2);
  });

  test("tells what is so now, made anew once a second at most", async () => {
    const states: string[] = [];
    const page = pageOf("", states);
    const madeAt = async (atMs: number) => {
      nowMs = atMs;
      await page.ask("live");
      return states.length;
    };
    expect([await madeAt(5_000), await madeAt(5_999), await madeAt(6_000), await madeAt(6_999)]).toEqual([1, 1, 2, 2]);
  });

  test("says of each part of a log which container it is of", async () => {
    const page = pageOf("");
    const [, second] = aJobStatus({}).tasks;
    const { parts } = JSON.parse(await page.ask(`logs?of=${second?.task}~stdout~0,am~stdout~0`));
    expect(parts.map(({ containerId }: { containerId?: string }) => containerId)).toEqual(["c1", undefined]);
  });

  test("answers clients whole, also where it is not served", async () => {
    const page = pageOf("");
    expect(JSON.parse(await page.ask("live?since=0"))).toMatchObject({ mayLook: true, tasks: { all: 3 } });
    expect(JSON.parse(await page.ask("live"))).toMatchObject({ mayLook: true });
    expect(JSON.parse(await page.ask("settings"))).toEqual({ xml: "<configuration/>" });
    expect(JSON.parse(await page.ask("live?since=x"))).toEqual({ error: "the page has no such query" });
  });

  test("has a key where the cluster is not secured, or the job asks for it", () => {
    const hasKey = (isSecured: boolean, page?: boolean) =>
      pageOf("", [], { isSecured, ...(page !== undefined && { page }) }).key !== undefined;
    expect([hasKey(false), hasKey(true), hasKey(true, true)]).toEqual([true, false, true]);
  });

  test.each([
    [true, ["ada", "bob"], [true, false]],
    [false, [], [false, false]],
  ])(
    "with the key store that YARN gives it is served by HTTPS; whom the proxy names is believed where viewers must prove who they are: %s",
    async (knowsViewers, asked, seen) => {
      looked.splice(0);
      const file = path.join(folder, "page.html");
      writeFileSync(file, "<html></html>");
      const url = await pageOf(file, [], { knowsViewers, keyStore: "test/fixtures/proxy-ca/application.jks" }).open();
      expect(url).toMatch(/^https:/);
      const authority = readFileSync("test/fixtures/proxy-ca/authority.pem");
      const ask = (user: string) =>
        new Promise<{ readonly mayLook: boolean }>((resolve, reject) => {
          const shown = { cert: authority, key: authority, rejectUnauthorized: false, agent: false };
          const headers = { cookie: `proxy-user=${user}` };
          getTls(`${url}api/v1/live`, { ...shown, headers }, (response) => {
            json(response).then((body) => resolve(Object(body)), reject);
          }).on("error", reject);
        });
      const looks = [await ask("ada"), await ask("bob"), await ask("ada")].map(({ mayLook }) => mayLook);
      expect(looks).toEqual([...seen, seen[0]]);
      // Of each once a minute: it may take a process of its own.
      expect(looked).toEqual(asked);
      const askedAt = async (atMs: number) => {
        nowMs = atMs;
        await ask("ada");
        return looked.length - asked.length;
      };
      const times = [await askedAt(59_999), await askedAt(60_000), await askedAt(119_999), await askedAt(120_000)];
      expect(times).toEqual(knowsViewers ? [0, 1, 1, 2] : [0, 0, 0, 0]);
    },
  );

  test("is missing where YARN's key store cannot be read, and the job goes on", async () => {
    const file = path.join(folder, "page.html");
    writeFileSync(file, "<html></html>");
    said.splice(0);
    expect(await pageOf(file, [], { keyStore: file }).open()).toBeUndefined();
    expect(said).toEqual(["page-failed"]);
  });

  test("is missing where its file is, and the job goes on", async () => {
    said.splice(0);
    expect(await pageOf(path.join(folder, "nothing")).open()).toBeUndefined();
    expect(said).toEqual(["page-failed"]);
  });
});

import { once } from "node:events";
import { readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { request as secureRequest } from "node:https";
import { connect } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Access } from "../../portal/access.ts";
import { JobIndex } from "../../portal/job-index.ts";
import type { LogQuery } from "../../portal/job-logs.ts";
import { JobPages } from "../../portal/job-pages.ts";
import { runningMetrics } from "../../portal/running-metrics.ts";
import { MOST_PORTAL_CONNECTIONS, PortalServer, type PortalServerOptions } from "../../portal/server.ts";
import { usualRoundings } from "../../src/advice/roundings.ts";
import { makeServerKey } from "../../src/api/server-key.ts";
import { TonyError } from "../../src/errors.ts";
import { jobGauges } from "../../src/job/gauges.ts";
import type { JobStatus } from "../../src/job/status.ts";
import type { PortalProxies } from "../../src/portal-settings.ts";
import { outOfMemory, role } from "../client/job-status.ts";
import { eventually } from "../support/eventually.ts";
import { aLargeJob } from "../support/shown-pages.ts";
import { HistoryFolder, type WrittenJob } from "./history-folder.ts";

const endedAtMs = Date.UTC(2026, 10, 26, 12);
const page = (name: string) => Buffer.from(`<html><script>${name}</script></html>`);

describe("the portal", () => {
  let history: HistoryFolder;
  let index: JobIndex;
  let options: PortalServerOptions;
  let server: PortalServer | undefined;
  let address: string;
  let isOwn = true;
  let clockMs = 0;
  /** What a running job's own page answers, by what it is asked. */
  let ownPage: ((what: string) => object) | undefined;

  beforeEach(async () => {
    isOwn = true;
    ownPage = undefined;
    history = new HistoryFolder();
    clockMs = endedAtMs + 5;
    const nowMs = () => clockMs;
    index = new JobIndex({ ...history, nowMs });
    const access = new Access({ admins: "root", groupsOf: async () => [], nowMs });
    const logs = {
      read: async (user: string, { applicationId }: JobStatus, { task }: LogQuery) => {
        const line = { stream: "stdout", line: `${task} of ${user}'s ${applicationId}` } as const;
        return { tasks: [task], lines: [line], isCut: false, missingBytes: 0 };
      },
    };
    const jobs = new JobPages({
      fileSystem: history.fileSystem,
      access,
      index,
      logs,
      report: history.report,
      running: {
        pageOf: async ({ trackingUrl: url }) => ({ url }),
        ask: async (id, { url }, what) => {
          if (ownPage === undefined) throw new TonyError("its page is off", { code: "NO_ANSWER" });
          return { id, url, ...ownPage(what) };
        },
      },
      roundings: usualRoundings,
      prices: { gibHourPrice: 0.5, currency: "EUR" },
      nowMs,
    });
    const pages = { listPage: page("list"), jobPage: page("job"), comparePage: page("compare") };
    options = { index, jobs, access, ...pages, nowMs, isOwn: async () => isOwn };
    await serve();
  });
  afterEach(() => {
    server?.close();
    history.remove();
  });

  async function serve(proxies?: PortalProxies): Promise<void> {
    server?.close();
    server = new PortalServer({ ...options, ...(proxies === undefined ? {} : { proxies }) });
    address = await server.listen(0);
  }

  async function ask(path: string, { host = new URL(address).host, method = "GET", headers = {} } = {}) {
    const sent = request(new URL(path, address), { method, headers: { host, ...headers }, agent: false });
    sent.end();
    const [response] = await once(sent, "response");
    return { status: response.statusCode, headers: response.headers, text: await text(response) };
  }
  const json = async (path: string) => JSON.parse((await ask(path)).text);

  test("takes a caller of its own user for that, by the kernel's list of connections", async () => {
    const { isOwn: _, ...usual } = options;
    options = usual;
    await serve();
    expect((await ask("/api/v1/jobs")).status).toBe(200);
  });

  test("shows the list, filtered as it is asked", async () => {
    history.write({ number: 1, startedAtMs: 10, endedAtMs, result: "failed", cause: outOfMemory() });
    history.write({ number: 2, startedAtMs: 20, user: "bob", queue: "prod", name: "resnet" });
    await index.refresh();
    const found = async (query: string) =>
      (await json(`/api/v1/jobs?${query}`)).rows.map(({ name }: { name: string }) => name);
    expect(await found("")).toEqual(["resnet", "bert"]);
    expect(await found("user=bo*")).toEqual(["resnet"]);
    expect(await found("queue=ml&state=failed&cause=memory")).toEqual(["bert"]);
    expect(await found("name=0001")).toEqual(["bert"]);
    expect(await found(`until=15`)).toEqual(["bert"]);
    expect(await found(`since=${endedAtMs + 1}`)).toEqual(["resnet"]);
    expect(await json("/api/v1/jobs?from=1&count=1")).toMatchObject({
      total: 2,
      matching: 2,
      from: 1,
      rows: [{ name: "bert" }],
      scan: { isComplete: true },
    });
    expect(await ask("/api/v1/jobs?state=odd")).toMatchObject({
      status: 400,
      text: expect.stringContaining("state is one of waiting, running"),
    });
    expect(await ask("/api/v1/jobs?colour=red")).toMatchObject({ status: 400 });
  });

  test("shows of a job that runs what its own page says, and else what its history has, with why and where that page is", async () => {
    history.write({ number: 1, user: "ada" });
    const id = "application_1_0001";
    history.reports.set(id, { user: "ada", trackingUrl: "http://rm:8088/proxy/application_1_0001/" });
    const known = await json(`/jobs/${id}/api/v1/live?since=5`);
    expect(known).toMatchObject({
      job: { state: "running" },
      tasks: { all: 0 },
      running: { url: "http://rm:8088/proxy/application_1_0001/", trouble: "its page is off" },
    });
    // Whoever has it all is told all of it again: why it is no more may have changed.
    expect(await json(`/jobs/${id}/api/v1/live?since=${known.rev}`)).toMatchObject({
      job: { state: "running" },
      running: { trouble: "its page is off" },
    });
    expect(await ask(`/jobs/${id}/api/v1/logs?of=worker:0~stdout~0`)).toMatchObject({
      status: 502,
      text: expect.stringContaining("its page is off"),
    });
    ownPage = (what) => ({ what });
    expect(await json(`/jobs/${id}/api/v1/live?since=5&filter=worker:1`)).toEqual({
      id,
      url: "http://rm:8088/proxy/application_1_0001/",
      what: "api/v1/live?since=5&filter=worker:1",
    });
    expect(await json(`/jobs/${id}/api/v1/logs?of=worker:0~stdout~0`)).toMatchObject({
      what: "api/v1/logs?of=worker:0~stdout~0",
    });
    expect(await json(`/jobs/${id}/api/v1/run`)).toMatchObject({ what: "api/v1/run" });
  });

  test("asks no page of a job that is another user's than its history says, nor for who may not see it", async () => {
    history.write({ number: 1, user: "ada" });
    history.reports.set("application_1_0001", { user: "bob" });
    ownPage = () => ({ told: true });
    expect(await json("/jobs/application_1_0001/api/v1/live")).not.toHaveProperty("told");
    history.write({ number: 2, user: "ada" });
    history.reports.set("application_1_0002", { user: "ada" });
    expect(await json("/jobs/application_1_0002/api/v1/live")).toHaveProperty("told");
    await serve({ listen: "127.0.0.1", addresses: ["127.0.0.1"], header: "X-User" });
    for (const what of ["live", "run", "logs?of=worker:0~stdout~0"])
      expect(await ask(`/jobs/application_1_0002/api/v1/${what}`, { headers: { "x-user": "mallory" } })).toMatchObject({
        status: 403,
      });
  });

  test("shows a job by the page and the answers of the job that runs, and says that nothing more will come", async () => {
    history.write({ number: 1, endedAtMs, result: "failed", cause: outOfMemory() });
    expect(await ask("/jobs/application_1_0001")).toMatchObject({ status: 200, text: page("job").toString() });
    expect(await ask("/jobs/application_1_0001/elsewhere?x=1")).toMatchObject({ text: page("job").toString() });
    expect(await ask("/jobs/application_1_0001/api/v1/elsewhere")).toMatchObject({ status: 404 });
    expect(await json("/jobs/application_1_0001/api/v1/live?filter=worker")).toMatchObject({
      mayLook: true,
      isFinal: true,
      events: [{ generation: 1, text: "cluster spec sent" }],
      job: { user: "ada", state: "failed" },
      tasks: { all: 3, matching: 2 },
      status: {
        use: { held: "0.00028 GiB·h, 0.0028 core·h" },
        outcome: { cause: { remedy: expect.stringContaining("raise tony.worker.memory") } },
      },
    });
    expect(await json("/jobs/application_1_0001/api/v1/job")).toMatchObject({
      user: "ada",
      events: [{ type: "cluster-spec-sent" }],
    });
    expect(await ask("/jobs/application_1_0009/api/v1/live")).toMatchObject({
      status: 404,
      text: '{"error":"The history has no job application_1_0009"}',
    });
  });

  test("shows a job that YARN killed as ended, with YARN's words", async () => {
    history.write({ number: 1 });
    const id = "application_1_0001";
    history.reports.set(id, {
      state: "KILLED",
      startTimeMs: 400,
      finishTimeMs: endedAtMs,
      diagnostics: "killed by bob",
    });
    await index.refresh();
    expect(await json(`/jobs/${id}/api/v1/live`)).toMatchObject({
      isFinal: true,
      job: { state: "killed" },
      status: { submittedAtMs: 400, outcome: { summary: "killed by bob", endedAtMs } },
    });
  });

  test("shows a job that has told its own end as it says, though YARN's word was known before", async () => {
    const folder = history.write({ number: 1 });
    const id = "application_1_0001";
    history.reports.set(id, { state: "KILLED", finishTimeMs: endedAtMs, diagnostics: "killed by bob" });
    await index.refresh();
    renameSync(history.write({ number: 1, endedAtMs: endedAtMs - 1, result: "failed", cause: outOfMemory() }), folder);
    expect(await json(`/jobs/${id}/api/v1/live`)).toMatchObject({
      job: { state: "failed" },
      status: { outcome: { endedAtMs: endedAtMs - 1 } },
    });
  });

  test("shows a job's settings as they were written, to who may see the job", async () => {
    history.write({ number: 1, endedAtMs, settings: { "tony.worker.memory": "2g" } });
    history.write({ number: 2, endedAtMs, settings: {} });
    history.write({ number: 3, endedAtMs, settings: { long: "x".repeat(2 ** 20) } });
    const folder = history.write({ number: 4, endedAtMs, settings: {} });
    writeFileSync(path.join(folder, "tony-final.xml"), `<!DOCTYPE a [<!ENTITY b "c">]><configuration/>`);
    const settings = async (number: number) => await json(`/jobs/application_1_000${number}/api/v1/settings`);
    const { xml } = await settings(1);
    expect(xml).toContain("<name>tony.worker.memory</name><value>2g</value>");
    expect(await settings(3)).toEqual({ error: expect.stringContaining("too many for this page") });
    expect(await settings(4)).toEqual({ error: "The job's settings are not in a file of ours" });
    rmSync(path.join(folder, "tony-final.xml"));
    expect(await settings(4)).toEqual({ error: "The job left no settings" });
    await serve({ listen: "127.0.0.1", addresses: ["127.0.0.1"], header: "x-user" });
    const headers = { "x-user": "bob" };
    expect(await ask("/jobs/application_1_0001/api/v1/settings", { headers })).toMatchObject({ status: 403 });
  });

  test("gives advice on the next run of one that has ended, as tony-ts advise does", async () => {
    history.write({ number: 1, startedAtMs: endedAtMs - 60_000, endedAtMs });
    history.write({ number: 2 });
    const { advice } = await json("/jobs/application_1_0001/api/v1/live");
    expect(advice).toMatchObject({ settings: [] });
    expect(advice.lines).toContain("worker: no advice: its use was not measured");
    expect(await json("/jobs/application_1_0002/api/v1/live")).not.toHaveProperty("advice");
  });

  test("gives advice by a job's earlier runs, too, with the site's prices, as far as the same people may see them", async () => {
    const hour = 3_600_000;
    const run = (number: number, heldGib: number, more: Partial<WrittenJob> = {}) => {
      const startedAtMs = endedAtMs - (10 - number) * hour;
      const end = startedAtMs + hour;
      const task = { task: "worker:0", state: "succeeded", startedAtMs, endedAtMs: end, restarts: 0 } as const;
      const tasks = [{ ...task, maxMemoryBytes: heldGib * 2 ** 30 }];
      history.write({ number, startedAtMs, endedAtMs: end, more: { tasks, roles: [role("worker", 1)] }, ...more });
    };
    run(1, 2.4);
    run(2, 3.3, { user: "bob" });
    run(3, 3.3, { name: "other" });
    run(4, 3.3, { viewAcl: "*" });
    run(5, 1);
    run(6, 3.3);
    await index.refresh();
    const { advice } = await json("/jobs/application_1_0005/api/v1/live");
    expect(advice).toMatchObject({
      runs: 2,
      settings: ["tony.worker.memory=3g"],
      lines: [
        expect.stringMatching(/held is 2.4 GiB \(p95 2.4 GiB, p50 1 GiB\) · saves 1 GiB·h, 0.5 EUR, a run$/),
        expect.anything(),
      ],
    });
    run(7, 1);
    await index.refresh();
    const stat = history.fileSystem.stat.bind(history.fileSystem);
    history.fileSystem.stat = async (path) => ({
      ...(await stat(path)),
      ...(path.endsWith("_0001") ? { owner: "mallory" } : {}),
    });
    const { advice: others } = await json("/jobs/application_1_0007/api/v1/live");
    expect(others.runs).toBe(3);
  });

  test("says how fast each task of a job that has ended went, against the others of its role", async () => {
    const task = (index: number) => ({ task: `worker:${index}`, state: "succeeded", restarts: 0, step: 9 }) as const;
    history.write({
      number: 1,
      endedAtMs,
      more: { tasks: [0, 1, 2, 3].map(task), roles: [role("worker", 4)] },
      series: { cpu: [1], step: [0, null, 100] },
      moreSeries: { "worker:1": { step: [null, 0, 25] }, "worker:2": { step: [3] } },
    });
    const { tasks } = await json("/jobs/application_1_0001/api/v1/live");
    expect(tasks.rows.map(({ rate }: { rate?: number }) => rate)).toEqual([1, 0.5, undefined, undefined]);
  });

  test("asks nobody for what a job that has ended would say while it ran, and gives no advice on TonY's", async () => {
    history.writeTonys(1, endedAtMs);
    expect(await ask("/jobs/application_1_0001/api/v1/run")).toMatchObject({
      status: 502,
      text: expect.stringContaining("it does not run, as far as YARN says"),
    });
    const live = await json("/jobs/application_1_0001/api/v1/live");
    expect(live).toMatchObject({ isFinal: true, logs: "stored", job: { state: "failed" } });
    expect(live).not.toHaveProperty("advice");
    expect(await ask("/jobs/application_1_0001/api/v1/live?count=many")).toMatchObject({ status: 404 });
  });

  test("compares two jobs", async () => {
    history.write({ number: 1, endedAtMs, settings: { "tony.worker.memory": "2g", "tony.same": "1" } });
    history.write({ number: 2, endedAtMs: endedAtMs + 7, settings: { "tony.worker.memory": "4g", "tony.same": "1" } });
    const [a, b] = ["application_1_0001", "application_1_0002"];
    expect(await ask(`/compare?a=${a}&b=${b}`)).toMatchObject({ status: 200, text: page("compare").toString() });
    expect(await json(`/api/v1/compare?a=${a}&b=${b}`)).toMatchObject({
      jobs: [{ applicationId: a }, { applicationId: b }],
      settings: [{ key: "tony.worker.memory", of: ["2g", "4g"] }],
    });
    expect(await ask(`/api/v1/compare?a=${a}&b=application_1_0009`)).toMatchObject({ status: 404 });
    for (const query of ["", `a=${a}`, `a=${a}&b=../../etc`])
      expect(await ask(`/api/v1/compare?${query}`)).toMatchObject({ status: 400 });
  });

  test("says what the jobs held that match", async () => {
    history.write({ number: 1, endedAtMs });
    history.write({ number: 2, endedAtMs, user: "bob" });
    await index.refresh();
    expect(await json("/api/v1/use?user=bob")).toMatchObject({ owners: [{ user: "bob", jobs: 1 }] });
  });

  test.each([
    ["NO_LOGS", 404],
    ["LOG_TOO_LONG", 413],
    ["BUSY", 503],
    ["ACCESS_DENIED", 403],
    ["SOMETHING_ELSE", 502],
  ])("answers %s by %i", async (code, status) => {
    const compare = async () => Promise.reject(new TonyError("why not", { code }));
    options = { ...options, jobs: Object.assign(Object.create(options.jobs), { compare }) };
    await serve();
    const asked = await ask("/api/v1/compare?a=application_1_0001&b=application_1_0002");
    expect(asked).toMatchObject({ status, text: '{"error":"why not"}' });
  });

  test("says that another program has its port", async () => {
    const other = new PortalServer(options);
    await expect(other.listen(Number(new URL(address).port))).rejects.toMatchObject({
      code: "PORT_TAKEN",
      message: expect.stringContaining("another program has it; name another by --port"),
    });
  });

  test("serves nobody but its own user, under its own name alone, and only reads", async () => {
    expect(await ask("/")).toMatchObject({
      status: 200,
      headers: { "content-security-policy": expect.stringContaining("default-src 'none'") },
    });
    expect(await ask("/", { host: "evil.example" })).toMatchObject({ status: 403 });
    const { port } = new URL(address);
    expect(await ask("/", { host: `localhost:${port}`, method: "HEAD" })).toMatchObject({ status: 200, text: "" });
    expect(await ask("/", { method: "POST" })).toMatchObject({ status: 405 });
    const elsewhere = { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" };
    expect(await ask("/api/v1/jobs", { headers: elsewhere })).toMatchObject({ status: 403 });
    expect(await ask("/", { headers: { ...elsewhere, "sec-fetch-mode": "navigate" } })).toMatchObject({ status: 200 });
    expect(await ask("/", { headers: { "sec-fetch-site": "same-origin" } })).toMatchObject({ status: 200 });
    isOwn = false;
    await expect(ask("/metrics")).rejects.toMatchObject({ code: "ECONNRESET" });
  });

  describe("behind a proxy that logs people in", () => {
    const header = "X-Forwarded-User";
    const behind = (addresses: readonly string[]) => serve({ listen: "127.0.0.1", addresses, header });
    const as = (user: string) => ({ headers: { [header]: user } });
    const names = async (user: string) => {
      const { rows } = JSON.parse((await ask("/api/v1/jobs", as(user))).text);
      return rows.map(({ applicationId }: { applicationId: string }) => applicationId);
    };
    beforeEach(async () => {
      history.write({ number: 1, endedAtMs });
      history.write({ number: 2, endedAtMs: endedAtMs - 1, viewAcl: "carol" });
      history.writeBroken(3);
      await index.refresh();
    });

    test("each sees the jobs that he may", async () => {
      await behind(["127.0.0.1"]);
      expect(await names("ada")).toHaveLength(2);
      expect(await names("root")).toHaveLength(2);
      expect(await names("carol")).toEqual(["application_1_0002"]);
      expect(await names("bob")).toEqual([]);
      expect((await ask("/api/v1/jobs", as("bob"))).text).not.toContain("application_1_");
      expect((await ask("/api/v1/use", as("bob"))).text).toBe('{"owners":[],"days":[]}');
      for (const path of ["live", "job"]) {
        const asked = `/jobs/application_1_0001/api/v1/${path}`;
        expect(await ask(asked, as("ada"))).toMatchObject({ status: 200 });
        expect(await ask(asked, as("carol"))).toMatchObject({
          status: 403,
          text: expect.stringContaining("carol may not see application_1_0001: it is ada's"),
        });
      }
      index.forget("application_1_0001");
      for (const [user, counted] of [
        ["ada", 2],
        ["carol", 1],
        ["bob", 0],
      ] as const) {
        const lines = (await ask("/metrics", as(user))).text.split("\n");
        const of = lines.find((line) => line.startsWith('tony_jobs_finished_total{queue="ml",user="ada"'));
        expect(Number(of?.split(" ").at(-1) ?? 0)).toBe(counted);
      }
    });

    test("where nobody's jobs lie is told to nobody", async () => {
      await behind(["127.0.0.1"]);
      for (const folder of [history.finished, history.intermediate]) rmSync(folder, { recursive: true, force: true });
      await index.refresh();
      expect(index.scan).toHaveProperty("emptyPlaces");
      const { scan } = JSON.parse((await ask("/api/v1/jobs", as("bob"))).text);
      expect(scan).toMatchObject({ isComplete: true, unreadable: [] });
      expect(scan).not.toHaveProperty("emptyPlaces");
    });

    test("two jobs are compared for who may see both", async () => {
      await behind(["127.0.0.1"]);
      const [first, second] = ["application_1_0001", "application_1_0002"];
      const asked = `/api/v1/compare?a=${first}&b=${second}`;
      expect(await ask(asked, as("ada"))).toMatchObject({ status: 200 });
      for (const query of [asked, `/api/v1/compare?a=${second}&b=${first}`])
        expect(await ask(query, as("carol"))).toMatchObject({
          status: 403,
          text: expect.stringContaining(`carol may not see ${first}`),
        });
    });

    test("nobody is served whom it does not name, or not as a user", async () => {
      await behind(["127.0.0.1"]);
      for (const headers of [{}, { [header]: "" }, { [header]: "ada, root" }, { [header]: "-ada" }])
        expect(await ask("/api/v1/jobs", { headers })).toMatchObject({ status: 403 });
    });

    test("a proxy on this machine is the portal's own user's or root's", async () => {
      await behind(["127.0.0.1"]);
      isOwn = false;
      await expect(ask("/", as("root"))).rejects.toMatchObject({ code: "ECONNRESET" });
    });

    test("who is no named proxy is believed nothing", async () => {
      await behind(["192.0.2.7"]);
      expect(await names("bob")).toHaveLength(2);
      isOwn = false;
      await expect(ask("/", as("root"))).rejects.toMatchObject({ code: "ECONNRESET" });
    });
  });

  test("others log in at its own door, by TLS, and see their jobs alone; its own user need not, by this machine's name", async () => {
    history.write({ number: 1, user: "ada", endedAtMs });
    history.write({ number: 2, user: "bob", endedAtMs });
    await index.refresh();
    const { certificate, privateKey } = makeServerKey("portal", Date.now());
    const logins = {
      userOf: async ({ headers: { "x-test": user } }: IncomingMessage) => {
        if (typeof user === "string") return user;
        throw new TonyError("log in", { code: "NOT_LOGGED_IN" });
      },
    };
    server?.close();
    const door = { listen: "127.0.0.1", certificate: Buffer.from(certificate), key: Buffer.from(privateKey), logins };
    server = new PortalServer({ ...options, door });
    const url = new URL("api/v1/jobs", await server.listen(0));
    expect(url.protocol).toBe("https:");
    const asked = async (headers: Readonly<Record<string, string>>) => {
      const sent = secureRequest(url, { headers, agent: false, rejectUnauthorized: false }).end();
      const [response] = await once(sent, "response");
      return { status: response.statusCode, text: await text(response) };
    };
    expect(JSON.parse((await asked({})).text).rows).toHaveLength(2);
    expect(await asked({ host: "portal.example:1" })).toEqual({ status: 401, text: '{"error":"log in"}' });
    isOwn = false;
    expect((await asked({})).status).toBe(401);
    expect(JSON.parse((await asked({ "x-test": "ada" })).text).rows).toMatchObject([{ user: "ada" }]);
    expect((await asked({ "x-test": "ada", "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors" })).status).toBe(
      403,
    );
    url.pathname = "/jobs/application_1_0002/api/v1/live";
    expect(await asked({ "x-test": "ada" })).toMatchObject({
      status: 403,
      text: expect.stringContaining("it is bob's"),
    });
  });

  test("keeps no place for others, who hold as many connections as there may be and ask nothing", async () => {
    isOwn = false;
    const { hostname, port } = new URL(address);
    const others = Array.from({ length: MOST_PORTAL_CONNECTIONS }, () => connect(Number(port), hostname));
    await Promise.all(others.map((other) => new Promise((resolve) => other.on("error", resolve).on("close", resolve))));
    isOwn = true;
    expect(await ask("/")).toMatchObject({ status: 200 });
  });

  test("reads logs of who owns the history alone, whatever that says of itself", async () => {
    const { owner } = await history.fileSystem.stat(history.root);
    history.write({ number: 1, user: owner, endedAtMs });
    history.write({ number: 2, user: "bob", viewAcl: "*", endedAtMs });
    await index.refresh();
    const logOf = (number: number, query = "task=worker:0") =>
      json(`/jobs/application_1_000${number}/api/v1/logs?${query}`);
    expect(await logOf(1)).toMatchObject({ lines: [{ line: `worker:0 of ${owner}'s application_1_0001` }] });
    expect(await logOf(1, "task=..")).toEqual({ error: "task is one such as worker:0, or am" });
    expect(await logOf(2)).toEqual({
      error: `application_1_0002 says that it is bob's, but its history is ${owner}'s: no logs are read`,
    });
    expect((await ask("/jobs/application_1_0002/api/v1/logs?task=am")).status).toBe(403);
  });

  test("reads no logs by a folder that is theirs now and was another's when its history was read, or the other way round", async () => {
    const stat = history.fileSystem.stat.bind(history.fileSystem);
    let owner = "mallory";
    history.fileSystem.stat = async (path) => ({ ...(await stat(path)), owner });
    history.write({ number: 1, user: "bob", viewAcl: "*", endedAtMs });
    await index.refresh();
    const logs = () => json("/jobs/application_1_0001/api/v1/logs?task=worker:0");
    expect(await logs()).toMatchObject({ error: expect.stringContaining("its history is mallory's") });
    owner = "bob";
    expect(await logs()).toMatchObject({ error: expect.stringContaining("its history is mallory's") });
    history.write({ number: 2, user: "bob", viewAcl: "*", endedAtMs });
    await index.refresh();
    const second = () => json("/jobs/application_1_0002/api/v1/logs?task=worker:0");
    expect(await second()).toMatchObject({ lines: [{ line: "worker:0 of bob's application_1_0002" }] });
    owner = "mallory";
    expect(await second()).toMatchObject({ error: expect.stringContaining("its history is mallory's") });
  });

  test("reads no logs for who has gone", async () => {
    history.write({ number: 1, endedAtMs });
    const signals: AbortSignal[] = [];
    const logs = (_id: string, _query: LogQuery, _viewer: unknown, gone: AbortSignal) => {
      signals.push(gone);
      return new Promise(() => {});
    };
    options = { ...options, jobs: Object.assign(Object.create(options.jobs), { logs }) };
    await serve();
    const sent = request(new URL("/jobs/application_1_0001/api/v1/logs?task=worker:0", address), { agent: false });
    sent.on("error", () => undefined).end();
    await eventually("it is asked", () => signals.length === 1);
    expect(signals[0]?.aborted).toBe(false);
    sent.destroy();
    await eventually("its end", () => signals[0]?.aborted === true);
  });

  test("does not take a history for a job's that is another's", async () => {
    const folder = history.write({ number: 1, endedAtMs });
    renameSync(folder, folder.replace("_0001", "_0002"));
    await index.refresh();
    expect(await json("/api/v1/jobs")).toMatchObject({
      rows: [],
      scan: { unreadable: [{ why: expect.stringContaining("it is the history of another job") }] },
    });
  });

  test("counts for Prometheus what has ended, once all of it is known", async () => {
    const cost = { amount: 3.5, currency: "EUR" };
    const usage = { memoryMiBSeconds: 1024, vcoreSeconds: 10, gpuSeconds: 7200, cost };
    history.write({ number: 1, startedAtMs: endedAtMs - 60_000, endedAtMs, result: "failed", usage });
    history.write({ number: 2, user: 'a"b\\c' });
    expect(await ask("/metrics")).toMatchObject({ status: 503 });
    await index.refresh();
    const { text: told, headers } = await ask("/metrics");
    expect(headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
    for (const line of [
      'tony_jobs_running{queue="ml",user="a\\"b\\\\c"} 1',
      'tony_jobs_finished_total{queue="ml",user="ada",result="failed"} 1',
      'tony_job_seconds_total{queue="ml",user="ada"} 60',
      'tony_job_memory_byte_seconds_total{queue="ml",user="ada"} 1073741824',
      'tony_job_gpu_seconds_total{queue="ml",user="ada"} 7200',
      'tony_job_cost_total{queue="ml",user="ada",currency="EUR"} 3.5',
      "tony_portal_scan_failed 0",
    ])
      expect(told.split("\n")).toContain(line);
  });

  test("begins a counter at 0 for Prometheus, where an owner's first job of a kind has ended", async () => {
    history.write({ number: 1, endedAtMs });
    await index.refresh();
    const finished = async () =>
      (await ask("/metrics")).text.split("\n").filter((line) => line.startsWith("tony_jobs_finished_total{"));
    const known = 'tony_jobs_finished_total{queue="ml",user="ada",result="succeeded"} 1';
    expect(await finished()).toEqual([known]);
    history.write({ number: 2, endedAtMs: endedAtMs + 1, result: "failed" });
    await history.tick();
    utimesSync(path.dirname(path.dirname(history.write({ number: 3, user: "bob", endedAtMs: endedAtMs + 2 }))), 5, 5);
    await index.refresh();
    const late = [
      'tony_jobs_finished_total{queue="ml",user="bob",result="succeeded"}',
      'tony_jobs_finished_total{queue="ml",user="ada",result="failed"}',
    ];
    expect((await finished()).sort()).toEqual([known, ...late.map((one) => `${one} 0`)].sort());
    clockMs += 90_000;
    expect((await finished()).sort()).toEqual([known, ...late.map((one) => `${one} 1`)].sort());
  });

  describe("of a job that runs, Prometheus", () => {
    const id = "application_1_0002";
    const asked: string[] = [];
    beforeEach(async () => {
      asked.length = 0;
      history.write({ number: 1, endedAtMs });
      history.write({ number: 2, name: 'a"b' });
      history.reports.set(id, { user: "ada" });
      await index.refresh();
      ownPage = (what) => {
        asked.push(what);
        const gauges = [
          { name: "tony.memory.limit", points: [[{ role: "worker" }, 2 ** 30]] },
          { name: "tony.disk.written", points: [[{ role: "worker" }, 7]] },
          { name: "tony.held.memory", points: [[{}, 2]] },
          { name: "tony.of-a-later-release", points: [[{}, 1]] },
        ];
        const tasks = [{ task: "worker:1", gpu: 50, step: 7 }];
        return { gauges, ...(what.endsWith("tasks=all") ? { tasks } : {}) };
      };
    });
    const lines = async (path: string) =>
      (await ask(path)).text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    const known = [`tony_job_info{app="${id}",name="a\\"b",user="ada",queue="ml"} 1`, `tony_job_up{app="${id}"} 1`];

    test("finds the job beside the history", async () => {
      const { host } = new URL(address);
      const of = { __scheme__: "http", __metrics_path__: "/metrics" };
      expect(await json("/api/v1/targets")).toEqual([
        { targets: [host], labels: { job: "tony", ...of } },
        { targets: [host], labels: { job: "tony-jobs", instance: id, ...of, __metrics_path__: `/metrics/${id}` } },
      ]);
    });

    test("is told what its ApplicationMaster says, by role, and of each task where it asks for that", async () => {
      const byRole = [
        `tony_role_memory_limit_bytes{app="${id}",role="worker"} 1073741824`,
        `tony_role_disk_written_bytes_per_second{app="${id}",role="worker"} 7`,
        `tony_job_held_memory_byte_seconds{app="${id}"} 2097152`,
      ];
      expect(await lines(`/metrics/${id}`)).toEqual([...known, ...byRole]);
      expect(await lines(`/metrics/${id}?tasks=true`)).toEqual([
        ...[...known, ...byRole],
        `tony_task_gpu_utilization_ratio{app="${id}",role="worker",index="1"} 0.5`,
        `tony_task_step{app="${id}",role="worker",index="1"} 7`,
      ]);
      expect(asked).toEqual(["api/v1/metrics", "api/v1/metrics?tasks=all"]);
    });

    test.each<[string, (() => object) | undefined]>([
      ["does not answer", undefined],
      ["answers what is none", () => ({ gauges: [{ name: "tony.tasks", points: [[{ role: 1 }, 1]] }] })],
      ["names labels of its own", () => ({ gauges: [{ name: "tony.tasks", points: [[{ "a{": "b" }, 1]] }] })],
    ])("is told that its ApplicationMaster is away where that %s", async (_what, answer) => {
      ownPage = answer;
      expect(await lines(`/metrics/${id}`)).toEqual([known[0], `tony_job_up{app="${id}"} 0`]);
    });

    test("is told the same of one whose programs wait", async () => {
      history.write({ number: 3, name: 'a"b', last: "job-started" });
      history.reports.set("application_1_0003", { user: "ada" });
      await index.refresh();
      expect((await lines("/metrics/application_1_0003")).slice(0, 2)).toEqual(
        known.map((line) => line.replace(id, "application_1_0003")),
      );
    });

    test("is told nothing more of one that has ended, also before its history says so", async () => {
      const lost = [`tony_job_info{app="${id}",name="a\\"b",user="ada",queue="ml"} 1`, `tony_job_up{app="${id}"} 0`];
      history.reports.set(id, new Error("no ResourceManager answers"));
      expect(await lines(`/metrics/${id}`)).toEqual(lost);
      history.reports.set(id, { user: "ada", state: "FINISHED", finalStatus: "SUCCEEDED" });
      expect(await ask(`/metrics/${id}`)).toMatchObject({ status: 200, text: `# ${id} has ended\n` });
      history.reports.clear();
      expect((await ask("/metrics/application_1_0001")).text).toBe("# application_1_0001 has ended\n");
      expect(asked).toEqual([]);
    });

    test("is told nothing of the job where it may not see it, or where there is none", async () => {
      expect(await ask("/metrics/application_1_0009")).toMatchObject({ status: 404 });
      history.reports.set(id, { user: "mallory" });
      expect(await lines(`/metrics/${id}`)).toContain(`tony_job_up{app="${id}"} 0`);
      expect(asked).toEqual([]);
      await serve({ listen: "127.0.0.1", addresses: ["127.0.0.1"], header: "X-User" });
      expect(await ask(`/metrics/${id}`, { headers: { "x-user": "mallory" } })).toMatchObject({ status: 403 });
    });
  });

  test("its alert rules and its dashboard name no metric that it does not have, and the dashboard each of a running job", async () => {
    history.write({ number: 1 });
    await index.refresh();
    const [row] = index.rows;
    const running = row && runningMetrics(row, { gauges: jobGauges(aLargeJob(1)), tasks: [] });
    options = { ...options, upkeep: { counts: { moved: 0, removed: 0, removedBytes: 0, refused: 0 } } };
    await serve();
    const known = (await ask("/metrics")).text + running;
    for (const file of ["alerts.yml", "grafana-dashboard.json"]) {
      const names = readFileSync(path.join("examples/monitoring", file), "utf8").match(/\btony_\w+/g) ?? [];
      expect(names.length).toBeGreaterThan(2);
      for (const name of names) expect(known).toContain(`# TYPE ${name} `);
    }
    const dashboard = readFileSync("examples/monitoring/grafana-dashboard.json", "utf8");
    for (const [, name = ""] of (running ?? "").matchAll(/^# TYPE (\S+) /gm)) expect(dashboard).toContain(name);
  });
});

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { OutgoingHttpHeaders } from "node:http";
import { connect } from "node:http2";
import { get } from "node:https";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { httpRequest } from "../../scripts/cluster/http.mjs";
import { loginCookie } from "../../scripts/cluster/secure/web-login.mjs";
import { Channel } from "../../src/api/channel.ts";
import { clientService, executorService, rejoinService } from "../../src/api/definition.ts";
import { OWNER } from "../../src/api/identity.ts";
import type { ApplicationRight } from "../../src/job/access-list.ts";
import { askedByNobody } from "../support/asked-by-nobody.ts";
import { ClusterUser, clusterStatus, testCluster } from "../support/cluster.ts";
import { FaultJob, WAITS } from "../support/fault-job.ts";
import { at, requestJson } from "../support/http-json.ts";
import { listeningPorts } from "../support/listeners.ts";
import { Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";
import type { TonyTsResult } from "../support/tony-ts.ts";

const cluster = await testCluster();
const { alice, bob, carol } = ClusterUser;

/** What only those who may see the job are to see. */
const work = "what alice works on";

/** Every method that clients may call, the right that it takes, and the command that calls it. */
const doors: Record<
  keyof typeof clientService,
  { readonly right: ApplicationRight; readonly words: readonly string[] }
> = {
  follow: { right: "view", words: ["status"] },
  readLog: { right: "view", words: ["logs", "worker:0"] },
  stop: { right: "modify", words: ["kill"] },
  openSession: { right: "run", words: ["exec", "worker:0", "--", "true"] },
  transact: { right: "run", words: ["kv", "list"] },
  watch: { right: "run", words: ["kv", "watch"] },
  askPage: { right: "view", words: ["page"] },
};

describe("a running job of alice's, which carol may see and bob may not", () => {
  const people = {
    bob: new Person(cluster, bob),
    carol: new Person(cluster, carol),
    // By principals of two parts, which the cluster calls otherwise than their first part says.
    "called bob": new Person(cluster, "alice-away"),
    "called carol": new Person(cluster, "bob-away"),
  };
  let job: FaultJob;
  let report: unknown;
  let logs: string;
  beforeAll(async () => {
    const settings = { "tony.application.acl.view": carol };
    job = await FaultJob.submit(cluster, { program: `echo ${work}; ${WAITS}`, settings });
    await job.running(1);
    await job.status("both programs", ({ tasks }) => tasks.every(({ state }) => state === "running"));
    report = await appReport(alice);
    logs = `${at(report, "app", "amContainerLogs")}/am.log?start=0`;
  });
  afterAll(async () => {
    await job.dispose();
    await Promise.all(Object.values(people).map((person) => person.leave()));
    await sweep(cluster);
  });

  async function appReport(as: string): Promise<unknown> {
    const url = `${cluster.endpoints.resourceManager}/ws/v1/cluster/apps/${job.id}`;
    return (await requestJson(url, { cluster, as })).body;
  }

  /** With what is served on this machine, as long as the command runs. */
  async function shownPage(person: Person): Promise<TonyTsResult> {
    const page = person.start("page", job.id);
    const shown = page.output(/(http:\S+)#(\S+) shows/).then(
      async ([, url = "", token = ""]) => {
        const answer = await fetch(`${url}api/v1/live`, { headers: { Accept: `application/json; key=${token}` } });
        page.process.kill("SIGINT");
        return await answer.text();
      },
      () => "",
    );
    const ended = await page.ended;
    return { ...ended, stdout: `${ended.stdout}${await shown}` };
  }

  test.each(Object.entries(doors))(
    "%s of its ApplicationMaster",
    async (_method, { right, words: [verb = "", ...more] }) => {
      const answers = await Promise.all(
        Object.entries(people).map(async ([name, person]) => [
          name,
          meaningOf(await (verb === "page" ? shownPage(person) : person.run(verb, job.id, ...more))),
        ]),
      );
      const ofCarol = right === "view" ? "seen" : "refused";
      expect(Object.fromEntries(answers)).toEqual({
        ...{ bob: "refused", "called bob": "refused" },
        ...{ carol: ofCarol, "called carol": ofCarol },
      });
    },
  );

  test.each([
    ["a forwarded port", ["forward", "worker:0", "1234"]],
    ["its log", ["logs", "worker:0"]],
    ["its ApplicationMaster's log", ["logs", "am"]],
  ])("%s: bob is told whose it is, without Hadoop's or gRPC's own words", async (_what, [verb = "", ...more]) => {
    const { exitCode, stdout, stderr } = await people.bob.run(verb, job.id, ...more);
    expect(`${stdout}${stderr}`).toMatch(/it is alice's|HDFS lets only alice read/);
    expect(`${stdout}${stderr}`).not.toMatch(/Exception|LISTSTATUS|PERMISSION_DENIED|is forwarded/);
    expect(exitCode).toBe(3);
  });

  test("a port is not forwarded to who may see the job only", async () => {
    const { exitCode, stdout, stderr } = await people.carol.run("forward", job.id, "worker:0", "1234");
    expect(stderr).toMatch(/^tony-ts: carol@TONY\.TEST may not run anything in this job: it is alice's/);
    expect(stdout).toBe("");
    expect(exitCode).toBe(3);
  });

  test("whoever may not end it is told once whose it is and what would grant the right, when he kills it and when he leaves following it", async () => {
    const refusal = `carol may not end this job: it is alice's\n  What would grant the right: tony.application.acl.modify of the job, `;
    expect((await people.carol.run("kill", job.id)).stderr).toContain(refusal);
    const attached = people.carol.start("attach", job.id, "--own");
    await attached.output(/worker 2\/2 running/);
    attached.process.kill("SIGINT");
    const { exitCode, stdout, stderr } = await attached.ended;
    expect(stderr).toContain(refusal);
    expect(`${stdout}${stderr}`).not.toMatch(/Exception|trying again|MODIFY_APP/);
    expect(exitCode).toBe(3);
  });

  test("every port that it listens on: no method of any service without the proof of a secret", async () => {
    const { containerProcesses } = await clusterStatus(cluster.name);
    const ports = [...new Set(listeningPorts(containerProcesses.map(({ pid }) => pid)))];
    const pages = new Map(await Promise.all(ports.map(async (port) => [port, await shownAt(port)] as const)));
    const others = ports.filter((port) => pages.get(port) === undefined);
    expect([...pages.values()].filter((page) => page !== undefined)).toEqual([
      { mayLook: false, rev: expect.any(Number), nowMs: expect.any(Number), job: expect.any(Object) },
    ]);
    const answers = await Promise.all(others.map(forgedAll));
    const executor = refusals(rejoinService);
    expect(answers.sort()).toEqual([executor, executor, refusals(clientService, executorService)].sort());
  });

  test("YARN's report, its page of the logs, and the job's own page", async () => {
    expect(at(await appReport(bob), "app", "amContainerLogs")).toBeUndefined();
    expect(at(await appReport(carol), "app", "amContainerLogs")).toEqual(expect.any(String));
    expect((await httpRequest(cluster, logs, { as: bob })).text).toContain("is not authorized to view the logs");
    expect((await httpRequest(cluster, logs, { as: carol })).text).toContain("am-started");
    const ca = readFileSync(cluster.security?.certificateAuthority ?? "", "utf8");
    const page = String(at(report, "app", "trackingUrl"));
    expect(await askedByNobody(page, ca)).toEqual({ status: 401, login: "Negotiate" });
  });

  test("its page through YARN's proxy: all of it to her and to who may see it, to bob what YARN tells everybody", async () => {
    const page = String(at(report, "app", "trackingUrl"));
    for (const as of [alice, carol])
      expect(await shownThrough(page, as)).toMatchObject({ mayLook: true, tasks: { all: 2 } });
    expect(await shownThrough(page, bob)).toEqual({
      mayLook: false,
      rev: expect.any(Number),
      nowMs: expect.any(Number),
      job: expect.any(Object),
    });
  });

  test.each([
    ["its staging folder", () => job.staging],
    ["the history of her jobs", () => `/user/${alice}/.tony-ts/history-${alice}`],
    ["the programs that she has shipped", () => `/user/${alice}/.tony-ts/cache`],
    ["its stored logs", () => `/tmp/logs/${alice}`],
  ])("in HDFS %s", async (_what, folder) => {
    for (const as of [bob, carol]) {
      const url = `${cluster.endpoints.webHdfs}${folder()}?op=LISTSTATUS`;
      expect(await requestJson(url, { cluster, as })).toMatchObject({
        status: 403,
        body: { RemoteException: { exception: "AccessControlException" } },
      });
    }
  });
});

/** What a command came to for somebody: whether he was shown something of the job, or was told that it is not his to see or end. */
function meaningOf({ stdout, stderr }: TonyTsResult): string {
  if (/worker:0|what alice works on/.test(stdout)) return "seen";
  return /it is alice's|HDFS lets only alice read/.test(`${stdout}${stderr}`) ? "refused" : `${stdout}${stderr}`;
}

type Service = Readonly<Record<string, { readonly path: string }>>;

const methods = [clientService, executorService, rejoinService].flatMap((service: Service) => Object.values(service));

/** What gRPC's status says of every method, in their order, at a port that serves these alone. */
const refusals = (...served: readonly Service[]): string =>
  methods
    .map((method) =>
      served.flatMap((service) => Object.values(service)).includes(method) ? "unauthenticated" : "unimplemented",
    )
    .join(" ");

/** Who may have been told which secret; nobody knows them by these. */
const callers = [OWNER, "container_1_0001_01_000002", `token:${Buffer.from("carol").toString("base64url")}`];

/** What the job's page there shows to who has no key of it, and says that he is its owner as YARN's proxy would; undefined: there is none. */
async function shownAt(port: number): Promise<unknown> {
  const headers = { Accept: "application/json; key=forged", Cookie: `proxy-user=${alice}` };
  return await jsonAt(`https://${cluster.addresses.nodes[0]}:${port}/api/v1/live`, headers).catch(() => undefined);
}

/** What a job's page shows to that user, who asks at YARN's proxy, and for whom it is no matter that another's page may not be safe. */
async function shownThrough(page: string, as: string): Promise<unknown> {
  const Cookie = `${loginCookie(cluster, as, page)}; checked_${/application_\d+_\d+/.exec(page)}=true`;
  return await jsonAt(`${page}api/v1/live`, { Accept: "application/json", Cookie });
}

function jsonAt(url: string, headers: OutgoingHttpHeaders): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const call = get(url, { headers, rejectUnauthorized: false, agent: false }, (answer) => {
      json(answer).then(resolve, reject);
    });
    call.on("error", reject);
  });
}

/** One method after the other: a port lets an address wait that has 32 connections without a proof. */
async function forgedAll(port: number): Promise<string> {
  const answers: string[] = [];
  for (const { path } of methods) answers.push(await forged(port, path));
  return answers.join(" ");
}

/** What comes of a call by each of these with a secret that is none, and of one by a caller of another make without any proof. */
async function forged(port: number, path: string): Promise<string> {
  const address = `${cluster.addresses.nodes[0]}:${port}`;
  const codes = await Promise.all(callers.map((name) => calledAs(name, address, path)));
  expect(codes).toEqual(callers.map(() => "API_UNAUTHENTICATED"));
  return await calledWithoutProof(address, path);
}

async function calledAs(name: string, address: string, path: string): Promise<string> {
  const channel = new Channel({ address, serverName: "any", caller: { name, secret: randomBytes(32) } });
  const bytes = (message: Buffer) => message;
  const stream = channel.openBidirectional({
    ...{ path, requestStream: true, responseStream: true },
    ...{ requestSerialize: bytes, requestDeserialize: bytes, responseSerialize: bytes, responseDeserialize: bytes },
  });
  try {
    for await (const message of stream) return `answered ${message}`;
    return "ended";
  } catch (error) {
    return channel.toError(error).code;
  } finally {
    channel.close();
  }
}

const statuses: Readonly<Record<string, string>> = { 12: "unimplemented", 16: "unauthenticated" };

/** Plain HTTP/2: what a client that is not ours is told. */
async function calledWithoutProof(address: string, path: string): Promise<string> {
  const session = connect(`https://${address}`, { rejectUnauthorized: false });
  try {
    const call = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
    });
    const trailers = once(call, "trailers");
    const [headers] = await once(call, "response");
    call.resume().end();
    const status = headers["grpc-status"] ?? (await trailers)[0]["grpc-status"];
    return statuses[String(status)] ?? `status ${status}`;
  } finally {
    session.destroy();
  }
}

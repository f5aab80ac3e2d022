import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { PageAnswers } from "../../am/page/page-answers.ts";
import { PageDoor } from "../../am/page/page-door.ts";
import { Access } from "../../portal/access.ts";
import { JobIndex } from "../../portal/job-index.ts";
import { JobPages } from "../../portal/job-pages.ts";
import { PortalServer } from "../../portal/server.ts";
import { usualRoundings } from "../../src/advice/roundings.ts";
import { TonyError } from "../../src/errors.ts";
import type { TaskSeries } from "../../src/history/series/table.ts";
import type { JobStatus, TaskStatus } from "../../src/job/status.ts";
import { liveAnswer } from "../../src/page/live-answer.ts";
import { runAnswer } from "../../src/page/run-answer.ts";
import { programPath } from "../../src/programs.ts";
import { aJobStatus, noonishMs, outOfMemory, role } from "../client/job-status.ts";
import { HistoryFolder } from "../portal/history-folder.ts";

const GIB = 2 ** 30;
const KEY = "a-key";
const pageOf = (name: string) => readFileSync(programPath("am").replace(/am\.cjs$/, name));

/** A made-up job with `workers` workers, two hours after its start. */
export function aLargeJob(workers: number, changes: Partial<JobStatus> = {}): JobStatus {
  const atMs = (minutes: number) => noonishMs + minutes * 60_000;
  const tasks = Array.from({ length: workers }, (_none, index) => aWorker(index));
  const cause = outOfMemory({ summary: "worker:1 ran out of memory on gpu-01" });
  const roles = [{ ...role("worker", workers), running: workers, memoryMiB: 8_192 }];
  return aJobStatus({
    ...{ name: "bert-large", generation: 2, amHost: "node-07", nowMs: atMs(134), roles, tasks },
    submittedAtMs: atMs(-6),
    generations: [
      {
        ...{ generation: 1, startedAtMs: noonishMs, allocatedAtMs: atMs(1.5), localizedAtMs: atMs(2.7) },
        ...{ registeredAtMs: atMs(2.8), runningAtMs: atMs(3), endedAtMs: atMs(41), endedBy: cause },
      },
      {
        ...{ generation: 2, startedAtMs: atMs(42), allocatedAtMs: atMs(42), localizedAtMs: atMs(42) },
        ...{ registeredAtMs: atMs(42.4), runningAtMs: atMs(43) },
      },
    ],
    takeovers: [{ attempt: 2, atMs: atMs(77) }],
    usage: {
      memoryMiBSeconds: workers * 8_192 * 8_040,
      vcoreSeconds: workers * 2 * 8_040,
      gpuSeconds: workers * 8_040,
      cost: { amount: 62, currency: "EUR" },
    },
    ...changes,
  });
}

function aWorker(index: number): TaskStatus {
  const isSlow = index === 5;
  const utilization = isSlow ? 0 : 94 + (index % 5);
  return {
    task: `worker:${index}`,
    state: "running",
    host: `gpu-${String(index % 32).padStart(2, "0")}`,
    restarts: index === 1 ? 1 : 0,
    step: isSlow ? 11_204 : 18_204 + (index % 3),
    metrics: { loss: 0.41 + (index % 7) / 100 },
    memoryBytes: (5.9 + (index % 5) / 10) * GIB,
    startedAtMs: noonishMs + 43 * 60_000,
    maxMemoryBytes: (6.1 + (index % 5) / 10) * GIB,
    cpuCores: isSlow ? 0.06 : 1.8 + (index % 4) / 20,
    disk: { readBytesPerSecond: 40_000_000 + index, writtenBytesPerSecond: isSlow ? 0 : 2_000_000 },
    gpus: {
      count: 1,
      utilization: { current: utilization, max: 100, average: 90 },
      memory: { current: 71, max: 74, average: 70 },
      devices: [{ utilization, memory: 71 }],
    },
  };
}

function aSeries(task: string): TaskSeries[] {
  const seed = Number(task.split(":")[1] ?? 0);
  const values = (of: (at: number) => number) => Array.from({ length: 200 }, (_none, at) => of(at));
  const wave = (at: number) => Math.sin((at + seed) / 6);
  return [
    { name: "cpu", rule: "mean", first: 0, values: values((at) => (at === 61 ? 0 : 1.8 + wave(at) / 10)) },
    {
      name: "memory",
      rule: "most",
      first: 0,
      values: values((at) => (5.5 + Math.min(at, 90) / 150 + wave(at) / 20) * GIB),
    },
    { name: "gpu", rule: "mean", first: 0, values: values((at) => (at === 61 ? 0 : 94 + wave(at) * 4)) },
    { name: "step", rule: "last", first: 0, values: values((at) => at * 91) },
    {
      name: "metric:loss",
      rule: "last",
      first: 0,
      values: values((at) => 0.4 + 6 * Math.exp(-at / 30) + wave(at) / 40),
    },
  ];
}

/** A job's page and a gateway in front of it, as Knox is in front of YARN's proxy. */
export interface ShownJob {
  /** Without a slash at the end, and with words in it that others take for something of theirs. */
  readonly address: string;
  /** What the page shows from now on; undefined: nothing, as while its ApplicationMaster is away. */
  show(status: JobStatus | undefined): void;
  close(): void;
}

/** Serves a job's page as its ApplicationMaster does, with only what YARN's proxy passes on. */
export async function showJob(first: JobStatus): Promise<ShownJob> {
  let status: JobStatus | undefined = first;
  const seriesOf = (task: string) => ({ fromMs: noonishMs, spanMs: 40_000, series: aSeries(task) });
  const door = new PageDoor({
    html: pageOf("page.html"),
    key: KEY,
    answers: new PageAnswers({
      live: (asked, mayLook) =>
        liveAnswer(
          status ?? first,
          {
            user: "ada",
            events: [{ type: "cluster-spec-sent", atMs: noonishMs, generation: 1 }],
            rateOf: (task) => (task === "worker:5" ? 1.3 : 2.1),
            seriesOf,
          },
          asked,
          mayLook,
        ),
      readLogs: async () => ({ parts: [] }),
      settings: async () => ({ xml: "<configuration/>" }),
      gauges: () => ({}),
      run: () => runAnswer(status ?? first, seriesOf, undefined, {}),
    }),
  });
  const port = await door.listen({ host: "127.0.0.1", portKey: "tony.am.port-range", random: Math.random });
  const prefix = `/gateway/history/proxy/yarn/proxy/${first.applicationId}`;
  const gateway = createServer((asked, response) => {
    if (status === undefined || asked.url?.startsWith(prefix) !== true) return void response.writeHead(502).end();
    const headers = { Accept: asked.headers.accept ?? "*/*" };
    const path = asked.url.slice(prefix.length) || "/";
    request({ host: "127.0.0.1", port, path, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    }).end();
  }).listen(0, "127.0.0.1");
  await once(gateway, "listening");
  const at = gateway.address();
  return {
    address: `http://127.0.0.1:${typeof at === "object" ? at?.port : ""}${prefix}#${KEY}`,
    show: (next) => {
      status = next;
    },
    close: () => {
      gateway.close();
      gateway.closeAllConnections();
      door.close();
    },
  };
}

/** Serves a portal with a made-up history. */
export async function showPortal(): Promise<{ readonly address: string; close(): void }> {
  const history = new HistoryFolder();
  const nowMs = () => Date.UTC(2026, 10, 27, 9);
  const names = ["bert-large", "resnet-50", "click-model", "digits", "whisper-tune"];
  const users = ["ada", "grace", "linus", "barbara"];
  for (let number = 1; number <= 11; number += 1) {
    const endedAtMs = nowMs() - number * 5_400_000;
    const startedAtMs = endedAtMs - (number % 6) * 2_400_000 - 900_000;
    const isFailed = number % 6 === 4;
    const seconds = (endedAtMs - startedAtMs) / 1_000;
    history.write({
      ...{ number, name: names[number % names.length] ?? "", user: users[number % users.length] ?? "" },
      ...{ queue: number % 3 === 0 ? "prod" : "ml", startedAtMs, endedAtMs },
      ...(isFailed
        ? { result: "failed", cause: outOfMemory({ summary: "worker:1 ran out of memory on gpu-07" }) }
        : {}),
      usage: { memoryMiBSeconds: 65_536 * seconds, vcoreSeconds: 16 * seconds, gpuSeconds: 8 * seconds },
    });
  }
  history.write({ number: 12, name: "bert-large", user: "ada", startedAtMs: nowMs() - 3_000_000 });
  history.reports.set("application_1_0012", { startTimeMs: nowMs() - 3_002_000 });
  const index = new JobIndex({ ...history, nowMs });
  await index.refresh();
  const access = new Access({ admins: "", groupsOf: async () => [], nowMs });
  const away = async () => {
    throw new TonyError("there is none", { code: "NO_LOGS" });
  };
  const running = { pageOf: async () => undefined, ask: away };
  const { fileSystem, report } = history;
  const jobs = new JobPages({
    fileSystem,
    report,
    access,
    index,
    nowMs,
    running,
    logs: { read: away },
    roundings: usualRoundings,
    prices: {},
  });
  const [listPage, jobPage, comparePage] = ["portal.html", "page.html", "compare.html"].map(pageOf);
  if (listPage === undefined || jobPage === undefined || comparePage === undefined) throw new Error("no pages");
  const server = new PortalServer({
    index,
    jobs,
    access,
    nowMs,
    listPage,
    jobPage,
    comparePage,
    isOwn: async () => true,
  });
  return {
    address: await server.listen(0),
    close: () => {
      server.close();
      history.remove();
    },
  };
}

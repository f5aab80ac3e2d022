import { createServer, type Server } from "node:http";
import { json } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { MlflowRuns, runSubjects } from "../../../am/notices/mlflow.ts";
import { Outlets } from "../../../am/notices/outlets.ts";
import type { AmSpec, JobSpec } from "../../../src/job/spec.ts";
import type { JobStatus, TaskStatus } from "../../../src/job/status.ts";
import { aJobStatus, allSucceeded, noonishMs } from "../../client/job-status.ts";
import { searchOf } from "../../job/search/support.ts";
import { aJobSpec } from "../../support/job-spec.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";
import { silentLog } from "../../support/silent-log.ts";

interface Call {
  readonly method: string;
  readonly body: unknown;
}

let server: Server;
let calls: Call[];
/** By method; the first answer of each is given first, the last one again and again. */
let answers: Record<string, readonly [number, object][]>;
let authorization: string | undefined;
let warned: string[];
beforeEach(async () => {
  calls = [];
  warned = [];
  answers = {
    "experiments/get-by-name": [[200, { experiment: { experiment_id: "7" } }]],
    "runs/create": [[200, { run: { info: { run_id: "r1" } } }]],
  };
  server = createServer((request, response) => {
    void (async () => {
      const body = request.method === "GET" ? undefined : await json(request);
      const method = (request.url ?? "").replace("/base/api/2.0/mlflow/", "").replace(/\?.*/, "");
      calls.push({ method, body });
      authorization = request.headers.authorization;
      const [[status, answer] = [200, {}], ...later] = answers[method] ?? [];
      if (later.length > 0) answers[method] = later;
      response.writeHead(status).end(JSON.stringify(answer));
    })();
  });
  await listenLocally(server);
});
afterEach(() => void server.close());

function runs(variables: Readonly<Record<string, string>> = {}): MlflowRuns {
  return new MlflowRuns({
    url: `http://${localAddress(server)}/base/`,
    user: "ada",
    variables,
    clock: { nowMs: () => noonishMs, random: () => 0 },
    warn: (message) => warned.push(message),
    experiment: "bert",
    leadTask: "worker:0",
  });
}

function withMetrics(
  metrics: Readonly<Record<string, Partial<TaskStatus>>>,
  changes: Partial<JobStatus> = {},
): JobStatus {
  const status = aJobStatus(changes);
  return { ...status, tasks: status.tasks.map((task) => ({ ...task, ...metrics[task.task] })) };
}

const ended = { ...allSucceeded, endedAtMs: noonishMs + 60_000 };

describe("a job is a run of its experiment", () => {
  test("with what it asks for, the metrics of its lead task and of others' first tasks, and its end", async () => {
    const job = runs();
    const reported = {
      "worker:0": { step: 5, metrics: { loss: 0.25 } },
      "worker:1": { step: 5, metrics: { loss: 9 } },
      "ps:0": { metrics: { "rows read": 7 } },
    };
    job.look(withMetrics(reported));
    await job.end(withMetrics(reported, { outcome: ended }));
    expect(calls.map(({ method }) => method)).toEqual([
      "experiments/get-by-name",
      "runs/create",
      "runs/log-batch",
      "runs/log-batch",
      "runs/update",
    ]);
    expect(calls[1]?.body).toEqual({
      experiment_id: "7",
      run_name: "bert application_1795305600000_0009",
      start_time: noonishMs,
      tags: [
        { key: "mlflow.user", value: "ada" },
        { key: "mlflow.source.name", value: "bert" },
        { key: "tony.application_id", value: "application_1795305600000_0009" },
        { key: "tony.run", value: "job" },
      ],
    });
    expect(calls[2]?.body).toMatchObject({
      run_id: "r1",
      params: expect.arrayContaining([{ key: "worker.memory_mib", value: "4096" }]),
    });
    const timestamp = noonishMs + 60_000;
    expect(calls[3]?.body).toEqual({
      run_id: "r1",
      metrics: [
        { key: "loss", value: 0.25, timestamp, step: 5 },
        { key: "ps/rows read", value: 7, timestamp, step: 0 },
      ],
    });
    expect(calls[4]?.body).toEqual({ run_id: "r1", status: "FINISHED", end_time: noonishMs + 60_000 });
  });

  test("whose metrics are told again only when they have changed", async () => {
    const job = runs();
    const at = (step: number) => withMetrics({ "worker:0": { step, metrics: { loss: 0.5 } } });
    for (const step of [1, 1, 2]) await job.end(at(step));
    const told = calls.flatMap(({ body }) => (JSON.stringify(body ?? "").includes("metrics") ? [body] : []));
    expect(told).toEqual(
      [1, 2].map((step) => expect.objectContaining({ metrics: [expect.objectContaining({ step, value: 0.5 })] })),
    );
  });

  test("and the experiment is made where it is not there, or another job has just made it", async () => {
    answers["experiments/get-by-name"] = [
      [404, { error_code: "RESOURCE_DOES_NOT_EXIST" }],
      [200, { experiment: { experiment_id: "8" } }],
    ];
    answers["experiments/create"] = [[400, { error_code: "RESOURCE_ALREADY_EXISTS" }]];
    await runs().end(aJobStatus());
    expect(calls.find(({ method }) => method === "runs/create")?.body).toMatchObject({ experiment_id: "8" });
  });

  test("that began when the job did, and ended when it did, whenever that is told", async () => {
    const late = { nowMs: noonishMs + 90_000, startedAtMs: noonishMs - 5, outcome: ended };
    await runs().end(aJobStatus(late));
    const [made, over] = ["runs/create", "runs/update"].map((method) => calls.find((one) => one.method === method));
    expect(made?.body).toMatchObject({ start_time: noonishMs - 5 });
    expect(over?.body).toMatchObject({ end_time: noonishMs + 60_000 });
  });

  test("with as much as MLflow takes at once: parameters are cut, metrics come in several calls", async () => {
    const [of] = aJobStatus().roles;
    if (of === undefined) throw new Error("a role");
    const roles = Array.from({ length: 101 }, (_, index) => ({ ...of, name: `role${index}` }));
    const metrics = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`m${index}`, index]));
    const job = runs();
    await job.end(withMetrics({ "worker:0": { metrics } }, { roles, queue: "q".repeat(501) }));
    const [params, ...told] = calls.filter(({ method }) => method === "runs/log-batch").map(({ body }) => Object(body));
    expect([params.params.length, params.params[0]]).toEqual([100, { key: "queue", value: "q".repeat(500) }]);
    expect(told.map((one) => one.metrics.length)).toEqual([1_000, 1]);
    expect(told[1].metrics[0]).toMatchObject({ key: "m1000", value: 1_000 });
  });

  test("that a later attempt looks for on all pages, and once", async () => {
    const page = (run: string, key: string, more: object) => {
      const tags = [{ key: "tony.run", value: key }];
      return [200, { runs: [{ info: { run_id: run, status: "RUNNING" }, data: { tags } }], ...more }] as [
        number,
        object,
      ];
    };
    answers["runs/search"] = [page("r9", "trial:9", { next_page_token: "two" }), page("r0", "job", {})];
    const job = runs();
    for (const _ of [1, 2]) await job.end(aJobStatus({ attempt: 2 }));
    const searches = calls.filter(({ method }) => method === "runs/search").map(({ body }) => Object(body).page_token);
    expect(searches).toEqual([undefined, "two"]);
    expect(calls.map(({ method }) => method)).not.toContain("runs/create");
  });

  test("that a later attempt goes on with", async () => {
    const tags = [{ key: "tony.run", value: "job" }];
    answers["runs/search"] = [[200, { runs: [{ info: { run_id: "r0", status: "RUNNING" }, data: { tags } }] }]];
    await runs().end(aJobStatus({ attempt: 2, outcome: ended }));
    expect(calls.map(({ method }) => method)).toEqual(["experiments/get-by-name", "runs/search", "runs/update"]);
    expect(calls[2]?.body).toMatchObject({ run_id: "r0" });
  });

  test("also where a program's client has ended it meanwhile", async () => {
    const tags = [{ key: "tony.run", value: "job" }];
    answers["runs/search"] = [[200, { runs: [{ info: { run_id: "r0", status: "FINISHED" }, data: { tags } }] }]];
    await runs().end(aJobStatus({ attempt: 2, outcome: ended }));
    expect(calls.at(-1)).toEqual({ method: "runs/update", body: expect.objectContaining({ run_id: "r0" }) });
  });

  test("whatever a server answers, it is asked a bounded number of times, and little of it is kept", async () => {
    answers["runs/search"] = [[200, { runs: [], next_page_token: "more" }]];
    await runs().end(aJobStatus({ attempt: 2 }));
    expect(calls.filter(({ method }) => method === "runs/search")).toHaveLength(10);

    calls = [];
    answers["experiments/get-by-name"] = [[404, {}]];
    answers["experiments/create"] = [[400, { error_code: "RESOURCE_ALREADY_EXISTS" }]];
    await runs().end(aJobStatus());
    expect(calls).toHaveLength(4);
    expect(warned).toEqual([expect.stringContaining("RESOURCE_ALREADY_EXISTS")]);

    answers["experiments/get-by-name"] = [[200, { experiment: { experiment_id: "x".repeat(5_000) } }]];
    await runs().end(aJobStatus());
    expect(warned.at(-1)).toBe("an answer has no experiment.experiment_id");
  });
});

describe("programs share the job's run", () => {
  function outlets(changes: Partial<JobSpec> = {}, am: Partial<AmSpec> = { mlflowShared: true }): Outlets {
    const spec = aJobSpec(changes);
    const mlflowUrl = `http://${localAddress(server)}/base/`;
    return new Outlets({
      job: { user: "ada", spec: { ...spec, am: { ...spec.am, mlflowUrl, ...am } } },
      secrets: new Map(),
      rateOf: () => undefined,
      clock: { nowMs: () => noonishMs },
      log: silentLog,
    });
  }

  test("which is made before they start, where the job asks for it", async () => {
    expect(await outlets().variables(() => aJobStatus())).toEqual({
      MLFLOW_TRACKING_URI: `http://${localAddress(server)}/base/`,
      MLFLOW_RUN_ID: "r1",
    });
    calls = [];
    const search = searchOf({ lr: "float 0 1" });
    for (const without of [outlets({}, {}), outlets({ search })]) {
      expect(await without.variables(() => aJobStatus())).toEqual({});
    }
    expect(calls).toEqual([]);
  });

  test("and start without, where MLflow refuses or is silent", async () => {
    answers["runs/create"] = [[500, {}]];
    expect(await outlets().variables(() => aJobStatus())).toEqual({});
    server.removeAllListeners("request");
    expect(await outlets().variables(() => aJobStatus())).toEqual({});
    server.closeAllConnections();
  });
});

test.each([
  [{ MLFLOW_TRACKING_TOKEN: "t" }, "Bearer t"],
  [
    { MLFLOW_TRACKING_USERNAME: "ada", MLFLOW_TRACKING_PASSWORD: "x" },
    `Basic ${Buffer.from("ada:x").toString("base64")}`,
  ],
  [{}, undefined],
])("the secrets %j log in", async (variables, expected) => {
  await runs(variables).end(aJobStatus());
  expect(authorization).toBe(expected);
});

test("a run whose parameters are refused is not made a second time", async () => {
  answers["runs/log-batch"] = [
    [400, { message: "too many" }],
    [200, {}],
  ];
  const job = runs();
  await job.end(aJobStatus());
  await job.end(aJobStatus({ outcome: ended }));
  expect(calls.filter(({ method }) => method === "runs/create")).toHaveLength(1);
  expect(calls.slice(-2).map(({ method }) => method)).toEqual(["runs/log-batch", "runs/update"]);
  expect(warned).toHaveLength(1);
});

test("a server that refuses is told of, and nothing else comes of it", async () => {
  answers["runs/create"] = [[500, { message: "no disk" }]];
  await runs().end(aJobStatus({ outcome: ended }));
  expect(warned).toEqual([`${localAddress(server)} answered runs/create with HTTP 500: {"message":"no disk"}`]);
});

test("trials of a search are runs of their own, below the job's", async () => {
  const trial = (task: string, state: "completed" | "stopped" | "running") => ({
    task,
    state: "succeeded" as const,
    restarts: 0,
    params: { lr: "0.1" },
    trial: { state },
    step: 3,
    metrics: { accuracy: 0.5 },
  });
  const status = aJobStatus({
    roles: aJobStatus().roles.slice(0, 1),
    tasks: [trial("worker:0", "completed"), trial("worker:1", "stopped"), trial("worker:2", "running")],
    search: { metric: "accuracy", direction: "maximize", parameters: ["lr"], command: "train" },
  });
  expect(runSubjects(status, "worker:0").map(({ key, state, tasks }) => [key, state, tasks.length])).toEqual([
    ["job", "RUNNING", 0],
    ["trial:0", "FINISHED", 1],
    ["trial:1", "KILLED", 1],
    ["trial:2", "RUNNING", 1],
  ]);
  const over = runSubjects({ ...status, outcome: ended }, "worker:0").map(({ state }) => state);
  expect(over).toEqual(["FINISHED", "FINISHED", "KILLED", "KILLED"]);
  answers["runs/create"] = ["r1", "r2", "r3", "r4"].map(
    (id) => [200, { run: { info: { run_id: id } } }] as [number, object],
  );
  await runs().end(status);
  const created = calls.filter(({ method }) => method === "runs/create").map(({ body }) => JSON.stringify(body));
  expect(created.map((body) => body.includes('"mlflow.parentRunId","value":"r1"'))).toEqual([false, true, true, true]);
});

test("every trial of a search has its run, and what one has is told once", async () => {
  const trial = (index: number) => ({
    ...{ task: `worker:${index}`, state: "succeeded" as const, restarts: 0, params: { lr: "0.1" }, step: 3 },
    ...{ trial: { state: "completed" as const }, metrics: { accuracy: 0.5 } },
  });
  const status = aJobStatus({
    roles: aJobStatus().roles.slice(0, 1),
    tasks: Array.from({ length: 19 }, (_, index) => trial(index)),
    search: { metric: "accuracy", direction: "maximize", parameters: ["lr"], command: "train" },
  });
  const job = runs();
  await job.end(status);
  const count = (method: string) => calls.filter((one) => one.method === method).length;
  const counts = () => ["runs/create", "runs/log-batch", "runs/update"].map(count);
  expect(counts()).toEqual([20, 1 + 2 * 19, 19]);
  await job.end(status);
  expect(counts()).toEqual([20, 1 + 2 * 19, 19]);
});

test.each([
  ["completed", "FINISHED"],
  ["stopped", "KILLED"],
  ["failed", "FAILED"],
  ["paused", "RUNNING"],
  ["running", "RUNNING"],
  ["interrupted", "KILLED"],
] as const)("a trial that is %s has a run that is %s", (state, shown) => {
  const task = { task: "worker:0", state: "running", restarts: 0, params: { lr: "0.1" }, trial: { state } } as const;
  const search = { metric: "accuracy", direction: "maximize", parameters: ["lr"], command: "train" } as const;
  const status = aJobStatus({ roles: aJobStatus().roles.slice(0, 1), tasks: [task], search });
  expect(runSubjects(status, "worker:0").at(-1)).toMatchObject({ key: "trial:0", state: shown });
});

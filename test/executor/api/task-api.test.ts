import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Advice } from "../../../executor/api/advice.ts";
import {
  MOST_API_BODY_BYTES,
  MOST_API_CONNECTIONS,
  socketFolder,
  socketPath,
  type TaskApi,
} from "../../../executor/api/task-api.ts";
import type { ProgramStart } from "../../../src/frameworks/task-program.ts";
import type { CarrierSpec } from "../../../src/job/spec.ts";
import { started, TaskApiScene } from "../../support/task-api.ts";

const stored: CarrierSpec = {
  checkpoints: { localDir: "checkpoints", keep: 2 },
  outputRequired: true,
  timeoutMs: 60_000,
};

describe("the API of a task", () => {
  let scene: TaskApiScene;
  let api: TaskApi;
  let start: ProgramStart | undefined;
  let advice: Advice;
  let saved: number;
  let awaited: (readonly string[])[];
  const progress = () => readFileSync(path.join(scene.folder, "progress.jsonl"), "utf8");
  const call = (...words: Parameters<TaskApiScene["call"]>) => scene.call(...words);

  beforeEach(async () => {
    [start, advice, saved, awaited] = [started, { answer: "continue" }, 0, []];
    scene = await TaskApiScene.open({
      start: () => start,
      advice: () => advice,
      awaitEnds: async (roles) => {
        awaited.push(roles);
        return [{ task: "worker:0", state: "succeeded", exit: "0" }];
      },
      saved: () => {
        saved += 1;
      },
    });
    api = scene.api;
  });

  afterEach(() => scene.close());

  const report = (said: unknown) => call("POST", "/v1/report", JSON.stringify(said));

  test("is its user's alone", () => {
    expect(statSync(api.socket).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(api.socket)).mode & 0o777).toBe(0o700);
  });

  test("says which task it is, and why it started", async () => {
    expect(await call("GET", "/v1/task")).toEqual({
      status: 200,
      said: {
        task: "worker:1",
        role: "worker",
        index: 1,
        applicationId: "application_1795305600000_0007",
        attempt: 1,
        generation: 2,
        restarts: 1,
        restartReason: "worker:0 exited with 1",
        checkpoint: "hdfs:///ckpt/7",
        host: "n2",
        port: 5001,
        ports: { rpc: 5002 },
      },
    });
  });

  test("answers in JSON of a length that it says", async () => {
    const answer = await scene.asked("POST", "/v1/report", "{}");
    expect(answer.headers).toMatchObject({ "content-type": "application/json", "content-length": "22" });
    expect(await text(answer)).toBe('{"answer":"continue"}\n');
  });

  test("says where all tasks are, or why nobody knows", async () => {
    expect((await call("GET", "/v1/cluster")).said).toEqual(started.cluster);
    const { cluster: _, ...alone } = started;
    start = alone;
    expect(await call("GET", "/v1/cluster")).toEqual({
      status: 404,
      said: { error: { code: "NO_CLUSTER", message: expect.stringContaining("FCFS") } },
    });
    start = undefined;
    expect((await call("GET", "/v1/task")).status).toBe(503);
  });

  test("says how the others ended, once they have", async () => {
    const { said: ended } = await call("GET", "/v1/ends");
    expect(ended).toEqual({ tasks: [{ task: "worker:0", state: "succeeded", exit: "0" }] });
    expect(awaited).toEqual([[]]);
    expect((await call("GET", "/v1/ends?roles=worker")).status).toBe(200);
    expect(awaited.at(-1)).toEqual(["worker"]);
  });

  test("says what has failed here, whatever that is", async () => {
    expect(await call("GET", "/v1/kv/shared/a")).toEqual({
      status: 500,
      said: { error: { code: "FAILED", message: "there is no store" } },
    });
  });

  test("takes what the progress file takes, there", async () => {
    const answer = { status: 200, said: { answer: "continue" } };
    expect(await report({ step: 7, metrics: { loss: 0.5 }, more: 1 })).toEqual(answer);
    expect(saved).toBe(0);
    expect(await report({ step: 8, checkpoint: "hdfs:///ckpt/8" })).toEqual(answer);
    expect(saved).toBe(1);
    const lines = '{"step":7,"metrics":{"loss":0.5}}\n{"step":8,"checkpoint":"hdfs:///ckpt/8","metrics":{}}\n';
    expect(progress()).toBe(lines);
    expect(await call("POST", "/v1/report")).toEqual(answer);
    expect(progress()).toBe(lines);
  });

  test.each([
    ["where nothing brings it out", {}, /set tony\.checkpoint\.local-dir and tony\.application\.checkpoint-dir/],
    [
      "beside the folder that is stored",
      { checkpointDir: "ckpt", carrier: stored },
      /save it below TONY_CHECKPOINT_LOCAL_DIR/,
    ],
  ])("warns of a checkpoint that goes with its container: %s", async (_what, more, warning) => {
    start = { ...started, spec: { ...started.spec, ...more } };
    const told = await report({ step: 8, checkpoint: "/tmp/8" });
    expect(told.said).toEqual({ answer: "continue", warning: expect.stringMatching(warning) });
    expect(told.said).toMatchObject({ warning: expect.stringContaining("/tmp/8 is in this container alone") });
    expect(saved).toBe(1);
  });

  test.each([
    ["below the folder that is stored", path.resolve("checkpoints/8")],
    ["named in it", "8"],
    ["below the folder that machines share", "/mnt/nfs/ckpt/8"],
    ["at an address", "hdfs:///ckpt/8"],
  ])("warns of no checkpoint %s", async (_what, checkpoint) => {
    start = { ...started, spec: { ...started.spec, checkpointDir: "/mnt/nfs/ckpt", carrier: stored } };
    expect((await report({ step: 8, checkpoint })).said).toEqual({ answer: "continue" });
  });

  test("answers with what to do next", async () => {
    advice = { answer: "checkpoint-now", cause: "preemption", deadlineMs: 5 };
    expect((await report({})).said).toEqual(advice);
  });

  test("takes what JSON has no number for", async () => {
    const { said } = await call("POST", "/v1/report", '{"step": 7, "metrics": {"loss": NaN, "gain": -Infinity}}');
    expect(said).toEqual({ answer: "continue" });
    expect(progress()).toBe('{"step":7,"metrics":{"loss":"NaN","gain":"-Infinity"}}\n');
  });

  test("takes the rest where a metric is no number, and names that", async () => {
    const { said } = await call("POST", "/v1/report", '{"step": 7, "metrics": {"loss": "low"}}');
    expect(said).toEqual({
      answer: "continue",
      ignored: ['The metric "loss" is not kept where it is not a number.'],
    });
    expect(progress()).toBe('{"step":7,"metrics":{}}\n');
  });

  test.each([
    ["no JSON", "steps: 7", /^the body is no JSON object/],
    ["no object", "[7]", /^the body is no JSON object/],
    ["no step", '{"step": -1}', /^"step" is not a whole number: -1$/],
  ])("says what is wrong with a report that has %s, and keeps nothing of it", async (_what, body, message) => {
    expect(await call("POST", "/v1/report", body)).toEqual({
      status: 400,
      said: { error: { code: "BAD_REPORT", message: expect.stringMatching(message) } },
    });
    expect(() => progress()).toThrow();
  });

  test("names what can be called where something else is", async () => {
    const { status, said } = await call("GET", "/v2/task");
    expect([status, said]).toEqual([404, { error: { code: "NOT_FOUND", message: expect.stringMatching("/v1/task") } }]);
    expect((await call("POST", "/v1/task")).status).toBe(405);
  });

  test("refuses a body that is too long, and goes on", async () => {
    const { status, said } = await call("POST", "/v1/report", Buffer.alloc(MOST_API_BODY_BYTES + 1, " "));
    expect([status, said]).toEqual([413, { error: { code: "TOO_LONG", message: expect.any(String) } }]);
    expect((await report({ checkpoint: "c".repeat(20_000) })).status).toBe(413);
    expect((await report({ step: 1 })).status).toBe(200);
  });

  test("closes connections beyond their bound, and answers the others", async () => {
    const sockets = Array.from({ length: MOST_API_CONNECTIONS }, () => connect(api.socket));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    const beyond = connect(api.socket);
    beyond.on("error", () => undefined);
    await once(beyond, "close");
    for (const socket of sockets) socket.destroy();
    await Promise.all(sockets.map((socket) => once(socket, "close")));
    expect((await report({ step: 1 })).status).toBe(200);
  });

  test("is gone when it is closed", async () => {
    await call("GET", "/v1/task");
    await api.close();
    expect(() => statSync(path.dirname(api.socket))).toThrow();
  });
});

describe("a barrier in the API of a task", () => {
  const opened: TaskApiScene[] = [];
  afterEach(async () => {
    for (const scene of opened.splice(0)) await scene.close();
  });

  const came = { key: "barrier/2/epoch-1/worker/3/worker:1", value: "", created: 1, modified: 1, version: 1 };

  /** In whose store all have met already, or worker:1 has come alone. */
  async function meets(haveMet: boolean, route: string) {
    const scene = await TaskApiScene.open({
      store: {
        transact: async () => {
          return { revision: 1, succeeded: haveMet, results: [{ type: "list", entries: [came], more: false }] };
        },
        async *watch(_wanted, signal) {
          yield { type: "changes", attempt: 1, revision: 0, changes: [] };
          if (!signal.aborted) await once(signal, "abort");
        },
      },
    });
    opened.push(scene);
    return await scene.call("POST", route);
  }

  test("says who has met", async () => {
    expect(await meets(true, "/v1/barrier/epoch-1")).toEqual({
      status: 200,
      said: { generation: 2, tasks: ["worker:0", "worker:1"] },
    });
  });

  test("is waited for as long as its caller says, by its name and number", async () => {
    expect(await meets(false, "/v1/barrier/epoch-1?timeout=0.01&nth=3")).toMatchObject({
      status: 408,
      said: {
        error: {
          code: "BARRIER_TIMEOUT",
          message: "1 of 2 tasks have not come to meeting 3 of epoch-1: worker:0",
        },
      },
    });
  });
});

describe("the socket's path", () => {
  test("is the one in the working directory where it fits", () => {
    expect(socketPath("/work", 3, 7)).toBe("/work/tony-api-3/socket");
  });

  test("has 107 bytes at most, as Linux has it", () => {
    const work = (length: number) => `/${"x".repeat(length - "/tony-api-3/socket".length - 1)}`;
    expect(socketPath(work(107), 3, 7)).toBe(`${work(107)}/tony-api-3/socket`);
    expect(socketPath(work(108), 3, 7)).toBe("/proc/7/cwd/tony-api-3/socket");
  });

  test("leads over the executor's working directory where that is too long for a socket", () => {
    const work = `/${"x".repeat(100)}`;
    expect(socketPath(work, 3, 7)).toBe("/proc/7/cwd/tony-api-3/socket");
    expect(socketFolder(work, 3)).toBe(`${work}/tony-api-3`);
  });
});

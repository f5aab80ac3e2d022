import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { json } from "node:stream/consumers";
import { socketFolder, socketPath, TaskApi, type TaskApiOptions } from "../../executor/api/task-api.ts";
import type { ProgramStart } from "../../src/frameworks/task-program.ts";
import { aJobSpec } from "./job-spec.ts";
import { silentLog } from "./silent-log.ts";

export const started: ProgramStart = {
  spec: aJobSpec(),
  task: { role: "worker", index: 1 },
  cluster: {
    generation: 2,
    tasks: [
      { task: "worker:0", host: "n1", port: 5000 },
      { task: "worker:1", host: "n2", port: 5001 },
    ],
  },
  applicationId: "application_1795305600000_0007",
  attempt: 1,
  generation: 2,
  amHost: "am",
  amPort: 1,
  address: { host: "n2", port: 5001 },
  ports: { rpc: 5002 },
  restartReason: "worker:0 exited with 1",
  restarts: 1,
  checkpoint: "hdfs:///ckpt/7",
};

/** A task's API in a folder of its own, and a program that calls it over one connection after the other. */
export class TaskApiScene {
  readonly folder: string;
  readonly api: TaskApi;
  readonly #agent = new Agent({ keepAlive: true });

  private constructor(folder: string, api: TaskApi) {
    this.folder = folder;
    this.api = api;
  }

  static async open(options: Partial<TaskApiOptions>): Promise<TaskApiScene> {
    const folder = mkdtempSync(path.join(tmpdir(), "tony-api-"));
    const api = await TaskApi.open({
      folder: socketFolder(folder, 2),
      socket: socketPath(folder, 2, process.pid),
      progressFile: path.join(folder, "progress.jsonl"),
      start: () => started,
      advice: () => ({ answer: "continue" }),
      saved: () => undefined,
      store: {
        transact: () => Promise.reject(new Error("there is no store")),
        async *watch() {},
      },
      feeds: {
        feeds: () => [],
        ask: () => Promise.reject(new Error("there is no feed")),
        openFileSystems: () => Promise.reject(new Error("there are no files")),
        nowMs: () => 0,
        log: silentLog,
        resultsFolder: "/nowhere",
      },
      awaitEnds: async () => [],
      ...options,
    });
    return new TaskApiScene(folder, api);
  }

  /** The answer to a call, as soon as its head has arrived. */
  async asked(method: string, route: string, body?: string | Buffer): Promise<IncomingMessage> {
    const asked = request({ socketPath: this.api.socket, method, path: route, agent: this.#agent });
    asked.on("error", () => undefined);
    asked.end(body);
    const [response] = await once(asked, "response");
    return response;
  }

  async call(method: string, route: string, body?: string | Buffer) {
    const response = await this.asked(method, route, body);
    return { status: Number(response.statusCode), said: await json(response) };
  }

  async close(): Promise<void> {
    await this.api.close();
    this.#agent.destroy();
    rmSync(this.folder, { recursive: true });
  }
}

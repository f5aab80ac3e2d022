import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import { LiveOutput } from "../../../client/logs/live-output.ts";
import type { AttemptConnection, LogPiece, LogRequest } from "../../../client/master/attempt-connection.ts";
import { closedLogName } from "../../../src/job/closed-log.ts";
import type { LogStore } from "../../../src/logs/log-store.ts";
import { aJobStatus } from "../job-status.ts";

type Piece = readonly [offset: number, text: string];
/** What is left of each log on its node: pieces of it, each at its offset. */
type Left = Readonly<Record<string, Piece | readonly Piece[]>>;

function isOne(pieces: Piece | readonly Piece[]): pieces is Piece {
  return typeof pieces[0] === "number";
}

function aLink(left: Left): AttemptConnection {
  return {
    async *follow() {},
    async *readLog({ task, stream, offset: from }: LogRequest): AsyncGenerator<LogPiece> {
      const found = left[`${task} ${stream}`] ?? [0, ""];
      let next = from;
      for (const [offset, text] of isOne(found) ? [found] : found) {
        yield { offset, data: Buffer.from(text), generation: 1, skippedBytes: offset - next };
        next = offset + text.length;
      }
    },
    async stop() {},
    close() {},
  };
}

/** In the order in which nodes store them. */
function aStore(...files: readonly (readonly [container: string, name: string, text: string])[]): LogStore {
  return {
    pending: undefined,
    isAtHand: false,
    async *logs(wanted) {
      for (const [containerId, name, text] of files.filter(([id]) => wanted(id)))
        yield { containerId, name, lengthBytes: text.length, content: Readable.from([Buffer.from(text)]) };
    },
  };
}

const allocated = (task: string) => `${JSON.stringify({ event: "task-started", task, container: "c2" })}\n`;
const status = aJobStatus({
  amContainerId: "c1",
  tasks: [
    { task: "prepare:0", state: "succeeded", containerId: "c8", restarts: 0 },
    { task: "worker:0", state: "running", containerId: "c2", restarts: 0 },
  ],
});

async function printed(link: AttemptConnection, store: LogStore) {
  const output = await new LiveOutput(link, store, status).task("worker:0", {});
  const lines: string[] = [];
  for await (const { line } of output.lines()) lines.push(line);
  return { lines, missingBytes: output.missingBytes };
}

describe("the output of a job that runs, of which YARN has stored and removed some", () => {
  test("is whole: what is gone from the node is read from the store", async () => {
    const link = aLink({ "am stdout": [0, allocated("worker:0")], "worker:0 stdout": [12, "third\n"] });
    const store = aStore(
      ["c2", closedLogName("stdout", 0), "first\n"],
      ["c2", closedLogName("stderr", 0), "other\n"],
      ["c2", closedLogName("stdout", 0), "first\n"],
      ["c2", closedLogName("stdout", 6), "secnd\n"],
    );
    expect(await printed(link, store)).toEqual({ lines: ["first", "secnd", "third"], missingBytes: 0 });
  });

  test("costs no look into the store where nothing of it is gone", async () => {
    const pieces = [
      [0, "first\n"],
      [6, "secnd\n"],
    ] as const;
    const link = aLink({ "am stdout": [0, allocated("worker:0")], "worker:0 stdout": pieces });
    let looks = 0;
    const store: LogStore = {
      ...aStore(),
      logs(wanted) {
        looks += 1;
        return aStore().logs(wanted);
      },
    };
    expect(await printed(link, store)).toEqual({ lines: ["first", "secnd"], missingBytes: 0 });
    expect(looks).toBe(0);
  });

  test("is whole where it is closed and stored while it is read", async () => {
    const link = aLink({
      "am stdout": [0, allocated("worker:0")],
      "worker:0 stdout": [
        [0, "first\n"],
        [12, "third\n"],
        [24, "fifth\n"],
      ],
    });
    const store = aStore(
      ["c2", closedLogName("stdout", 0), "first\n"],
      ["c2", closedLogName("stdout", 6), "secnd\n"],
      ["c2", closedLogName("stdout", 12), "third\n"],
      ["c2", closedLogName("stdout", 18), "forth\n"],
    );
    expect(await printed(link, store)).toEqual({
      lines: ["first", "secnd", "third", "forth", "fifth"],
      missingBytes: 0,
    });
  });

  test("has its places looked up once, and is that of the container that the task has now", async () => {
    const tenants = allocated("worker:0").replace("c2", "c9") + allocated("worker:0");
    const link = aLink({
      "am stdout": [0, tenants],
      "worker:0 stdout": [
        [6, "secnd\n"],
        [18, "forth\n"],
      ],
    });
    const asked: string[] = [];
    const counted: AttemptConnection = {
      ...link,
      readLog(request, signal) {
        asked.push(request.task);
        return link.readLog(request, signal);
      },
    };
    const store = aStore(
      ["c9", closedLogName("stdout", 0), "older\n"],
      ["c2", closedLogName("stdout", 0), "first\n"],
      ["c2", closedLogName("stdout", 12), "third\n"],
    );
    expect((await printed(counted, store)).lines).toEqual(["first", "secnd", "third", "forth"]);
    expect(asked.filter((task) => task === "am")).toHaveLength(1);
  });

  test("is that of its task, in a container that had another one before", async () => {
    const tenants = allocated("prepare:0") + allocated("worker:0");
    const link = aLink({ "am stdout": [0, tenants], "worker:0 stdout": [6, "second\n"] });
    const store = aStore(
      ["c2", closedLogName("stdout", 0), "prepared\n"],
      ["c2", closedLogName("worker-0.stdout", 0), "first\n"],
    );
    expect((await printed(link, store)).lines).toEqual(["first", "second"]);
  });

  test("keeps its order by an index that was closed, too", async () => {
    const mark = "1 1 6 4\n";
    const link = aLink({
      "am stdout": [0, allocated("worker:0")],
      "worker:0 index": [mark.length, ""],
      "worker:0 stdout": [0, "first\nlast\n"],
      "worker:0 stderr": [0, "err\n"],
    });
    const store = aStore(["c2", closedLogName("output.index", 0), mark]);
    expect((await printed(link, store)).lines).toEqual(["first", "err", "last"]);
  });

  test("is read from its beginning to its present end, and so is what its executor says", async () => {
    const asked: LogRequest[] = [];
    const link: AttemptConnection = {
      ...aLink({}),
      async *readLog(request) {
        asked.push(request);
        yield { offset: 0, data: Buffer.from("begun\n"), generation: 1, skippedBytes: 0 };
      },
    };
    const texts: string[] = [];
    for await (const { data } of new LiveOutput(link, aStore(), status).executor("worker:0"))
      texts.push(Buffer.from(data).toString());
    expect(texts).toEqual(["begun\n"]);
    await printed(link, aStore());
    const ofTask = { task: "worker:0", offset: 0, follow: false };
    expect(asked).toEqual(["executor", "index", "stdout", "stderr"].map((stream) => ({ ...ofTask, stream })));
  });

  test("is missing where the store cannot be read either", async () => {
    const link = aLink({ "am stdout": [0, allocated("worker:0")], "worker:0 stdout": [6, "second\n"] });
    const store: LogStore = {
      pending: undefined,
      isAtHand: false,
      // biome-ignore lint/correctness/useYield: it fails before
      async *logs() {
        throw new Error("not there");
      },
    };
    expect(await printed(link, store)).toEqual({ lines: ["second"], missingBytes: 6 });
  });

  test("the AM's own log likewise", async () => {
    const link = aLink({ "am stdout": [3, "{}\n"] });
    const pieces: string[] = [];
    const store = aStore(["c1", closedLogName("am.log", 0), "[]\n"]);
    for await (const { data } of new LiveOutput(link, store, status).master())
      pieces.push(Buffer.from(data).toString());
    expect(pieces).toEqual(["[]\n", "{}\n"]);
  });
});

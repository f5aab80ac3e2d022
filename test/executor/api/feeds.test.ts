import { spawnSync } from "node:child_process";
import { getMaxListeners } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { CallError } from "../../../executor/api/call.ts";
import type { FeedAnswered, FeedCall } from "../../../src/api/messages.ts";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import type { FeedSpec } from "../../../src/job/feeds/feed-spec.ts";
import type { GivenSplit } from "../../../src/job/feeds/lease.ts";
import { eventually } from "../../support/eventually.ts";
import { TaskApiScene } from "../../support/task-api.ts";

const PID = process.pid;
const FEED: FeedSpec = {
  ...{ name: "train", input: ["/data"], cut: { format: "lines", splitBytes: 8 } },
  ...{ epochs: 1, window: 2, leaseMs: 60_000, maxAttempts: 3 },
};

describe("a feed, as a program has it", () => {
  let scene: TaskApiScene;
  let folder: string;
  let fileSystem: LocalFileSystem;
  let split: GivenSplit;
  let feed: FeedSpec;
  let asked: FeedCall[];
  let answer: (call: FeedCall) => FeedAnswered;
  let nowMs: number;
  /** To a call's end. */
  let mostListeners: number;
  let warnings: string[];
  /** How often the connections to where files are were closed. */
  let closed: number;
  /** What happens while what is away is waited for. */
  let meanwhile: () => void;
  const post = (verb: string, body = "") => scene.call("POST", `/v1/feed/train/${verb}`, body);

  beforeEach(async () => {
    [asked, nowMs, warnings, closed, meanwhile] = [[], 0, [], 0, () => undefined];
    folder = mkdtempSync(path.join(tmpdir(), "tony-feed-"));
    const file = path.join(folder, "data");
    writeFileSync(file, "one\ntwo\nthree\nfour\n");
    fileSystem = new LocalFileSystem();
    const { lengthBytes, modificationTimeMs } = await fileSystem.stat(file);
    const lease = { number: 5, epoch: 0, position: 1 };
    const [length, modifiedMs] = [lengthBytes, modificationTimeMs];
    split = { lease, split: 3, skip: 1, path: file, start: 4, end: 10, length, modifiedMs };
    feed = FEED;
    answer = ({ type }) =>
      type === "open"
        ? { type: "opened", epoch: 2 }
        : type === "ask"
          ? { type: "given", splits: [split] }
          : { type: "noted" };
    scene = await TaskApiScene.open({
      feeds: {
        feeds: () => [feed],
        ask: async (_feed, call, gone) => {
          asked.push(call);
          mostListeners = getMaxListeners(gone);
          return answer(call);
        },
        openFileSystems: async () => ({
          locate: (url) => ({ fileSystem, path: url }),
          close: () => {
            closed += 1;
          },
        }),
        nowMs: () => nowMs,
        log: { warn: (event, message) => warnings.push(`${event}: ${message}`) },
        pause: async () => meanwhile(),
        resultsFolder: path.join(folder, "unfinished"),
      },
    });
  });

  afterEach(async () => {
    await scene.close();
    rmSync(folder, { recursive: true });
  });

  test("is opened, read split by split, and told what was used", async () => {
    expect(await post(`open?pid=${PID}`, '{"cursor": {"epoch": 2}}')).toEqual({
      status: 200,
      said: { epoch: 2, format: "lines", window: 2 },
    });
    const taken = await post(`take?pid=${PID}&wait=false`);
    const shown = { number: 5, epoch: 0, position: 1, skip: 1, path: split.path, start: 4, end: 10, length: 19 };
    expect(taken.said).toEqual({ splits: [shown] });
    const read = await scene.asked("GET", `/v1/feed/train/read?pid=${PID}&number=5`);
    expect(read.headers["content-type"]).toBe("application/octet-stream");
    expect(await text(read)).toBe("two\nthree\n");
    const part = (range: string) => scene.asked("GET", `/v1/feed/train/read?pid=${PID}&number=5&${range}`);
    expect(await text(await part("from=0&to=5"))).toBe("one\nt");
    expect(await text(await part("from=15"))).toBe("our\n");
    for (const range of ["from=2&to=1", "from=0&to=20", "from=-1"]) expect((await part(range)).statusCode).toBe(400);
    expect((await post(`used?pid=${PID}&number=5&records=3`)).said).toEqual({});
    answer = () => ({ type: "ended" });
    expect((await post(`take?pid=${PID}`)).said).toEqual({ end: true });
    expect(asked).toEqual([
      { type: "open", cursor: '{"epoch":2}' },
      { type: "ask", most: 2, atOnce: true, has: [] },
      { type: "used", lease: split.lease, records: 3 },
      { type: "ask", most: 2, atOnce: false, has: [] },
    ]);
  });

  test.each([
    [{ format: "fixed", splitBytes: 8, recordBytes: 4 }, {}, { format: "fixed", recordBytes: 4 }],
    [{ format: "file" }, { uneven: "drop" }, { format: "file", uneven: "drop" }],
    [{ format: "tfrecord" }, { output: "/out" }, { format: "tfrecord", output: "/out" }],
  ] as const)("says how its rows are read, and what becomes of them: %j", async (cut, more, said) => {
    feed = { ...FEED, cut, ...more };
    expect((await post(`open?pid=${PID}`)).said).toEqual({ epoch: 2, window: 2, ...said });
  });

  test("is not read by an answer that is none of the call's", async () => {
    await post(`open?pid=${PID}`);
    answer = () => ({ type: "noted" });
    for (const call of ["open", "take"])
      expect(await post(`${call}?pid=${PID}`)).toEqual({
        status: 500,
        said: { error: { code: "FAILED", message: "the ApplicationMaster answers with noted" } },
      });
  });

  test("has no bytes where none are asked for, and is not mended by a file system that stays away", async () => {
    await post(`open?pid=${PID}`);
    await post(`take?pid=${PID}`);
    const read = (range: string) => scene.asked("GET", `/v1/feed/train/read?pid=${PID}&number=5${range}`);
    const nothing = await read("&from=19");
    expect([nothing.statusCode, nothing.headers["content-type"], await text(nothing)]).toEqual([
      200,
      "application/octet-stream",
      "",
    ]);
    const where = { operation: "", path: "", code: "UNREACHABLE", retryable: true } as const;
    fileSystem.stat = () => Promise.reject(new FileSystemError("the NameNode is away", where));
    const away = await read("&from=0");
    expect([away.statusCode, JSON.parse(await text(away))]).toEqual([
      503,
      { error: { code: "FEED_AWAY", message: "the NameNode is away" } },
    ]);
  });

  describe("is sent no faster than it is read", () => {
    const CHUNK = 128 << 10;
    let made: number;
    let given: boolean;
    /** A split of 128 chunks, made as it is read, of which the reader has taken nothing yet. */
    async function begun() {
      [made, given] = [0, false];
      const length = 128 * CHUNK;
      split = { ...split, start: 0, end: length, length };
      const { modifiedMs } = split;
      const source = async function* () {
        try {
          for (; made < 128; made += 1) yield Buffer.alloc(CHUNK, "x");
        } finally {
          given = true;
        }
      };
      Object.assign(fileSystem, {
        stat: async () => ({ lengthBytes: length, modificationTimeMs: modifiedMs }),
        open: async () => Readable.from(source()),
      });
      feed = { ...FEED, cut: { format: "file" } };
      await post(`open?pid=${PID}`);
      await post(`take?pid=${PID}`);
      const response = await scene.asked("GET", `/v1/feed/train/read?pid=${PID}&number=5`);
      const seen: number[] = [];
      await eventually("it waits for its reader", () => {
        seen.push(made);
        return made > 0 && seen.slice(-4).filter((before) => before === made).length === 4;
      });
      return response;
    }

    test("and comes whole", async () => {
      const response = await begun();
      expect(made).toBeLessThan(64);
      expect(await buffer(response)).toHaveLength(128 * CHUNK);
    });

    test("and is given up with its reader", async () => {
      const response = await begun();
      response.destroy();
      await eventually("the file is closed", () => given);
      expect(made).toBeLessThan(64);
    });
  });

  test("is told of several splits at a time that all of them is used", async () => {
    await post(`open?pid=${PID}`);
    const numbered = (number: number): GivenSplit => ({ ...split, lease: { ...split.lease, number } });
    answer = ({ type }) => (type === "ask" ? { type: "given", splits: [numbered(5), numbered(6)] } : { type: "noted" });
    await post(`take?pid=${PID}`);
    const used = JSON.stringify({ used: [5, 6, 5].map((number) => ({ number, records: number })) });
    expect(await post(`used?pid=${PID}`, used)).toEqual({ status: 200, said: {} });
    // Node warns of more of them, in the program's stderr.
    expect(mostListeners).toBe(Number.POSITIVE_INFINITY);
    expect(asked.slice(2)).toEqual(
      [5, 6].map((number) => ({ type: "used", lease: numbered(number).lease, records: number })),
    );
    expect(await post(`used?pid=${PID}`, used)).toMatchObject({
      status: 404,
      said: {
        error: {
          code: "NO_SUCH_SPLIT",
          message: "split 5 is not in hand: it was not taken, or is said to be used",
        },
      },
    });
    expect(await post(`used?pid=${PID}&number=five`)).toMatchObject({
      status: 400,
      said: { error: { code: "BAD_CALL" } },
    });
    expect(await post(`used?pid=${PID}`, '{"used": 5}')).toMatchObject({
      status: 400,
      said: { error: { code: "BAD_CALL" } },
    });
  });

  test("says that a task goes on while it reads, four times for each lease at most", async () => {
    await post(`open?pid=${PID}`);
    await post(`take?pid=${PID}`);
    const toldAtMs: number[] = [];
    const before = answer;
    answer = (call) => {
      if (call.type === "moved") toldAtMs.push(nowMs);
      return before(call);
    };
    for (const atMs of [14_999, 15_000, 29_999, 30_000, 50_000]) {
      nowMs = atMs;
      await text(await scene.asked("GET", `/v1/feed/train/read?pid=${PID}&number=5`));
    }
    expect(toldAtMs).toEqual([15_000, 30_000, 50_000]);
  });

  test("gives a task as many splits as its window has left, and one to a task that asks with a full one", async () => {
    await post(`open?pid=${PID}`, "{}");
    for (const number of [5, 6, 7]) {
      split = { ...split, lease: { ...split.lease, number } };
      await post(`take?pid=${PID}`);
    }
    expect(asked).toEqual([
      { type: "open" },
      { type: "ask", most: 2, atOnce: false, has: [] },
      { type: "ask", most: 1, atOnce: false, has: [5] },
      { type: "ask", most: 1, atOnce: false, has: [5, 6] },
    ]);
  });

  test("keeps a split in hand whose use the ApplicationMaster could not be told", async () => {
    await post(`open?pid=${PID}`);
    await post(`take?pid=${PID}`);
    const before = answer;
    answer = () => {
      throw new CallError(503, "FEED_AWAY", "no ApplicationMaster answers");
    };
    expect((await post(`used?pid=${PID}&number=5`)).said).toMatchObject({ error: { code: "FEED_AWAY" } });
    answer = before;
    expect((await post(`used?pid=${PID}&number=5`)).said).toEqual({});
    expect(asked.at(-1)).toEqual({ type: "used", lease: split.lease, records: 0 });
  });

  test("says why the rest of a split did not come, also when it could be read by then", async () => {
    const [length, chunk] = [1 << 20, Buffer.alloc(512 << 10, "x")];
    split = { ...split, start: 0, end: length, length };
    const { modifiedMs } = split;
    let opened = 0;
    Object.assign(fileSystem, {
      stat: async () => ({ lengthBytes: length, modificationTimeMs: modifiedMs }),
      open: async () => {
        opened += 1;
        return Readable.from(
          (function* () {
            yield chunk;
            throw new Error("a block is missing");
          })(),
        );
      },
    });
    feed = { ...FEED, cut: { format: "file" } };
    await post(`open?pid=${PID}`);
    await post(`take?pid=${PID}`);
    const read = () => scene.asked("GET", `/v1/feed/train/read?pid=${PID}&number=5`);
    await expect(read().then(text)).rejects.toThrow("aborted");
    const refused = await read();
    expect([refused.statusCode, JSON.parse(await text(refused))]).toEqual([
      422,
      { error: { code: "FEED_UNREADABLE", message: "a block is missing" } },
    ]);
    expect(opened).toBe(1);
  });

  test("leaves no connection and no unfinished result when the program has ended", async () => {
    feed = { ...FEED, output: path.join(folder, "out") };
    await post(`open?pid=${PID}`);
    await post(`take?pid=${PID}`);
    await post(`write?pid=${PID}&number=5`, "TWO\n");
    await text(await scene.asked("GET", `/v1/feed/train/read?pid=${PID}&number=5`));
    expect(readdirSync(path.join(folder, "unfinished", "train"))).toEqual(["5"]);
    await scene.api.close();
    expect([closed, readdirSync(folder)]).toEqual([1, ["data"]]);
  });

  test("waits for a NameNode that is away, says so, and keeps its splits meanwhile", async () => {
    const output = path.join(folder, "out");
    feed = { ...FEED, output };
    await post(`open?pid=${PID}`);
    await post(`take?pid=${PID}`);
    const there = new LocalFileSystem();
    let awayUntilMs = 45_000;
    meanwhile = () => {
      nowMs += 15_000;
    };
    const reach = () => {
      const where = { operation: "", path: "", code: "UNREACHABLE", retryable: true } as const;
      if (nowMs < awayUntilMs) throw new FileSystemError("the NameNode is away", where);
    };
    fileSystem = Object.assign(new LocalFileSystem(), {
      stat: async (place: string) => {
        reach();
        return await there.stat(place);
      },
      mkdirs: async (place: string, permission: number) => {
        reach();
        await there.mkdirs(place, permission);
      },
    });
    const read = await scene.asked("GET", `/v1/feed/train/read?pid=${PID}&number=5`);
    expect(await text(read)).toBe("two\nthree\n");
    awayUntilMs = 90_000;
    expect((await post(`used?pid=${PID}&number=5`)).said).toEqual({});
    expect(readdirSync(output)).toContain("part-0000003");
    expect(warnings[0]).toBe("feed-waits: Feed train goes on in 0.25 s at the earliest: the NameNode is away.");
    expect(warnings).toHaveLength(6);
    expect(asked.filter(({ type }) => type === "moved").length).toBeGreaterThan(3);
  });

  test("is read by one process of a task, and by the next one when that is gone", async () => {
    await post(`open?pid=${PID}`);
    await post(`take?pid=${PID}`);
    expect(await post("open?pid=1")).toMatchObject({ status: 409, said: { error: { code: "FEED_READ_ELSEWHERE" } } });
    expect(await post("take?pid=1")).toMatchObject({ status: 409, said: { error: { code: "FEED_STALE" } } });
  });

  test("is given anew to the process that comes after one that is gone", async () => {
    const { pid: gone } = spawnSync("true");
    await post(`open?pid=${gone}`);
    await post(`take?pid=${gone}`);
    expect(await post(`open?pid=${PID}`)).toMatchObject({ status: 200 });
    expect(await post(`take?pid=${gone}`)).toMatchObject({ status: 409, said: { error: { code: "FEED_STALE" } } });
    await post(`take?pid=${PID}`);
    expect(asked.filter(({ type }) => type === "ask")).toEqual([
      { type: "ask", most: 2, atOnce: false, has: [] },
      { type: "ask", most: 2, atOnce: false, has: [] },
    ]);
  });

  test("says why a split cannot be read, as often as it is asked", async () => {
    split = { ...split, modifiedMs: 1 };
    await post(`open?pid=${PID}`);
    await post(`take?pid=${PID}`);
    const message = `${split.path} has changed since it was looked up for this feed, and is not read`;
    for (const _ of [1, 2]) {
      const refused = await scene.call("GET", `/v1/feed/train/read?pid=${PID}&number=5`);
      expect(refused).toEqual({ status: 422, said: { error: { code: "FEED_UNREADABLE", message } } });
    }
    await post(`failed?pid=${PID}&number=5`, message);
    expect(asked.at(-1)).toEqual({ type: "failed", lease: split.lease, error: message });
  });

  test("says that its user may not read a split, which is not the split's fault", async () => {
    const message = "ada owns it, and can give you read access";
    const about = { code: "ACCESS_DENIED", operation: "OPEN", path: split.path } as const;
    fileSystem.stat = () => Promise.reject(new FileSystemError(message, about));
    await post(`open?pid=${PID}`);
    await post(`take?pid=${PID}`);
    const refused = await scene.call("GET", `/v1/feed/train/read?pid=${PID}&number=5`);
    expect(refused).toEqual({ status: 403, said: { error: { code: "FEED_DENIED", message } } });
  });

  test("gives a cursor of what it and the others have used", async () => {
    await post(`open?pid=${PID}`);
    await post(`take?pid=${PID}`);
    const cursor = { plan: "a1", epoch: 0, used: [0, 1], partly: { 1: 2 } };
    answer = () => ({ type: "cursor", cursor: JSON.stringify(cursor) });
    const state = (mark: string, body: string) => post(`state?pid=${PID}${mark}`, body);
    expect((await state("&mark=4", '{"begun": [{"number": 5, "records": 2}]}')).said).toEqual({ cursor });
    const begun = [{ lease: split.lease, records: 2 }];
    expect(asked.at(-1)).toEqual({ type: "mark", label: "4", among: ["worker:0", "worker:1"], begun });
    const refused = async (mark: string, body: string) => (await state(mark, body)).said;
    expect(await refused("", '{"begun": []}')).toMatchObject({ error: { code: "BAD_CALL" } });
    expect(await refused("&mark=5", '{"begun": [{"number": 6, "records": 2}]}')).toMatchObject({
      error: { code: "NO_SUCH_SPLIT" },
    });
    answer = () => ({ type: "noted" });
    expect(await refused("&mark=5", '{"begun": []}')).toMatchObject({ error: { code: "FAILED" } });
  });

  test("has results for each split, stored whole before it counts as used, and once whoever makes them", async () => {
    const output = path.join(folder, "out");
    feed = { ...FEED, output };
    await post(`open?pid=${PID}`);
    await post(`take?pid=${PID}`);
    await post(`write?pid=${PID}&number=5`, "TWO\n");
    // What another process made of it before is not added to.
    await post(`open?pid=${PID}`);
    await post(`take?pid=${PID}`);
    await post(`write?pid=${PID}&number=5`, "2\n");
    await post(`write?pid=${PID}&number=5`, "3\n");
    expect(readdirSync(folder)).not.toContain("out");
    const stored = () => readFileSync(path.join(output, "part-0000003"), "utf8");
    const before = answer;
    let storedWhenUsed = "";
    answer = (call) => {
      if (call.type === "used") storedWhenUsed = stored();
      return before(call);
    };
    expect((await post(`used?pid=${PID}&number=5`)).said).toEqual({});
    expect(storedWhenUsed).toBe("2\n3\n");
    await post(`take?pid=${PID}`);
    await post(`used?pid=${PID}&number=5`);
    expect(stored()).toBe("2\n3\n");
    expect(readdirSync(path.join(output, "_temporary"))).toEqual([]);
    expect(readdirSync(path.join(folder, "unfinished", "train"))).toEqual([]);
  });

  test("is told where results cannot be stored, and what has results goes on from no cursor", async () => {
    await post(`open?pid=${PID}`);
    await post(`take?pid=${PID}`);
    const message = "train has no place for results: set tony.feed.train.output";
    expect(await post(`write?pid=${PID}&number=5`, "x")).toEqual({
      status: 409,
      said: { error: { code: "FEED_NO_RESULTS", message } },
    });
    feed = { ...FEED, output: split.path };
    const used = await post(`used?pid=${PID}&number=5`);
    expect(used).toMatchObject({ status: 503, said: { error: { code: "FEED_RESULTS_NOT_STORED" } } });
    expect(asked.map(({ type }) => type)).not.toContain("used");
    expect((await post(`open?pid=${PID}`, '{"cursor": {}}')).said).toMatchObject({
      error: { code: "FEED_HAS_RESULTS" },
    });
  });

  test("says how many steps all make", async () => {
    await post(`open?pid=${PID}`);
    answer = () => ({ type: "agreed", steps: 32, last: false });
    const counted = `steps?pid=${PID}&epoch=1&ready=40&known=16`;
    expect((await post(counted)).said).toEqual({ steps: 32, last: false });
    const said = { type: "steps", among: ["worker:0", "worker:1"], epoch: 1, ready: 40, known: 16 };
    expect(asked.at(-1)).toEqual({ ...said, dry: false });
    await post(`${counted}&dry=true`);
    expect(asked.at(-1)).toEqual({ ...said, dry: true });
    expect((await post(`steps?pid=${PID}&epoch=1&ready=-1&known=0`)).said).toMatchObject({
      error: { code: "BAD_CALL", message: "ready is a whole number" },
    });
    answer = () => ({ type: "noted" });
    expect((await post(counted)).said).toMatchObject({ error: { code: "FAILED" } });
  });

  test("is read by the tasks of its roles alone, who make the same steps together", async () => {
    feed = { ...FEED, roles: ["ps", "chief"] };
    expect((await post(`open?pid=${PID}`)).said).toMatchObject({
      error: {
        code: "FEED_OF_OTHER_ROLES",
        message: "worker does not read train: tony.feed.train.roles names ps, chief",
      },
    });
    expect(asked).toEqual([]);
    feed = { ...FEED, roles: ["worker", "ps"] };
    await post(`open?pid=${PID}`);
    expect((await post(`steps?pid=${PID}&epoch=0&ready=1&known=0`)).said).toMatchObject({
      error: { message: "the cluster spec has no role ps" },
    });
  });

  test("passes on why something is refused", async () => {
    await post(`open?pid=${PID}`);
    answer = () => {
      throw new CallError(409, "FEED_LOST", "it is another's");
    };
    expect(await post(`take?pid=${PID}`)).toEqual({
      status: 409,
      said: { error: { code: "FEED_LOST", message: "it is another's" } },
    });
  });

  test.each([
    ["/v1/feed/test/open?pid=1", "NO_SUCH_FEED", "the job has no feed test: there is train"],
    ["/v1/feed/train/open?pid=0", "BAD_CALL", "pid is the number of the process that reads"],
    ["/v1/feed/train/open?pid=1.5", "BAD_CALL", "pid is the number of the process that reads"],
    ["/v1/feed/train/open", "BAD_CALL", "pid is the number of the process that reads"],
    ["/v1/feed/train/take?pid=1", "FEED_STALE", "process 1 has not opened train, or another one has since"],
    [
      `/v1/feed/train/open?pid=${PID}`,
      "BAD_CALL",
      expect.stringMatching(/^the body is no JSON as docs\/guide\/feeds.md shows: /),
    ],
  ])("refuses POST %s", async (route, code, message) => {
    expect((await scene.call("POST", route, "[")).said).toEqual({ error: { code, message } });
  });

  test("refuses what is no call of a feed, and a split that was not taken", async () => {
    await post(`open?pid=${PID}`);
    expect((await post(`grab?pid=${PID}`)).said).toMatchObject({ error: { code: "NOT_FOUND" } });
    expect((await scene.call("GET", `/v1/feed/train/take?pid=${PID}`)).said).toMatchObject({
      error: { code: "NOT_FOUND" },
    });
    const other = await scene.call("GET", `/v1/feed/train/read?pid=${PID}&number=6`);
    expect(other).toMatchObject({ status: 404, said: { error: { code: "NO_SUCH_SPLIT" } } });
  });
});

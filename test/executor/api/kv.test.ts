import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { rightsOfTask } from "../../../am/core/store/rights.ts";
import { createStore, type Store } from "../../../am/core/store/store.ts";
import type { StoreCall } from "../../../executor/api/kv.ts";
import type { Watched, WatchWanted } from "../../../src/job/store/watched.ts";
import { eventually } from "../../support/eventually.ts";
import { TaskApiScene } from "../../support/task-api.ts";

/** As the store of worker:1 answers. */
function transactOf(store: Store, asked: StoreCall[]) {
  return async (call: StoreCall) => {
    asked.push(call);
    const life = { task: "worker:1", generation: 2 };
    const request = {
      type: "request",
      id: 1,
      ...call,
      durable: false,
      rights: rightsOfTask("worker:1"),
      life,
    } as const;
    const effects = store.step(request, 0);
    const answer = effects.find((effect) => effect.type === "answer");
    if (answer?.type !== "answer") throw new Error("no answer");
    return answer.answer;
  };
}

describe("the key-value store, as a program has it", () => {
  let scene: TaskApiScene;
  let asked: StoreCall[];
  const call = (...words: Parameters<TaskApiScene["call"]>) => scene.call(...words);
  let news: Watched[];
  let wanted: WatchWanted | undefined;
  let watching: AbortSignal | undefined;
  async function* watch(of: WatchWanted, signal: AbortSignal) {
    [wanted, watching] = [of, signal];
    yield* news;
    await once(signal, "abort");
  }
  const post = (transaction: unknown) => call("POST", "/v1/kv", JSON.stringify(transaction));

  beforeEach(async () => {
    [asked, news, wanted] = [[], [], undefined];
    scene = await TaskApiScene.open({ store: { transact: transactOf(createStore(), asked), watch } });
  });

  afterEach(() => scene.close());

  test("keeps what is put, text or bytes, and tells its revisions", async () => {
    expect(await call("PUT", "/v1/kv/shared/rate", "0.01")).toEqual({
      status: 200,
      said: { revision: 1, durable: false, replaced: false },
    });
    expect((await call("PUT", "/v1/kv/shared/rate", "0.02")).said).toEqual({
      revision: 2,
      durable: false,
      replaced: true,
    });
    const entry = { key: "shared/rate", value: "0.02", created: 1, modified: 2, version: 2 };
    expect(await call("GET", "/v1/kv/shared/rate")).toEqual({ status: 200, said: { revision: 2, entry } });
    await call("PUT", "/v1/kv/shared/bytes", Buffer.from([0xff, 0x00]));
    expect((await call("GET", "/v1/kv/shared/bytes")).said).toMatchObject({ entry: { valueBase64: "/wA=" } });
    expect(asked.every(({ durable }) => !durable)).toBe(true);
  });

  test("tells no results of a transaction whose caller wants none", async () => {
    const put = JSON.stringify({ success: [{ type: "put", key: "shared/a", value: "1" }] });
    const said = { revision: 1, durable: false, succeeded: true };
    expect(await call("POST", "/v1/kv?results=false", put)).toEqual({ status: 200, said });
    expect((await call("POST", "/v1/kv?results=true", put)).said).toMatchObject({ revision: 2, results: [{}] });
    expect(asked.map(({ withoutResults = false }) => withoutResults)).toEqual([true, false]);
  });

  test("waits until a write is safe where that is asked for", async () => {
    expect((await call("PUT", "/v1/kv/shared/a?durable=true", "1")).said).toMatchObject({ durable: true });
    expect(asked.at(-1)?.durable).toBe(true);
  });

  test("waits as long as the caller says", async () => {
    await call("PUT", "/v1/kv/shared/a?timeout=2.5", "1");
    await post({});
    expect(asked.map(({ timeoutMs }) => timeoutMs)).toEqual([2_500, undefined]);
    expect((await call("GET", "/v1/kv/shared/a?timeout=soon")).status).toBe(400);
  });

  test("takes any key by its bytes in the address", async () => {
    await call("PUT", `/v1/kv/${encodeURIComponent("task/worker:1/ä?%")}`, "x");
    expect((await call("GET", "/v1/kv?prefix=task/worker:1/")).said).toMatchObject({
      entries: [{ key: "task/worker:1/ä?%", value: "x" }],
      more: false,
    });
    expect((await call("GET", "/v1/kv/%zz")).status).toBe(400);
  });

  test("lists what begins so, from a key on, so many, or the keys alone", async () => {
    for (const key of ["a", "b", "c"]) await call("PUT", `/v1/kv/shared/${key}`, key);
    const keys = async (query: string) => {
      const { said } = await call("GET", `/v1/kv${query}`);
      return said;
    };
    expect(await keys("")).toMatchObject({ entries: [{ value: "a" }, { value: "b" }, { value: "c" }] });
    // That is every key, and not the same as no prefix.
    expect(await keys("?prefix=")).toMatchObject({ error: { code: "FORBIDDEN" } });
    expect(await keys("?prefix=shared/&limit=1&from=shared/b")).toMatchObject({
      entries: [{ key: "shared/b" }],
      more: true,
    });
    expect(await keys("?prefix=shared/c&keys=true")).toMatchObject({ entries: [{ key: "shared/c", value: "" }] });
  });

  test("lists, deletes and watches up to a key", async () => {
    for (const key of ["a", "b", "c", "d"]) await call("PUT", `/v1/kv/shared/${key}`, key);
    const listed = async (query: string) => (await call("GET", `/v1/kv?${query}`)).said;
    const entries = (...values: string[]) => ({ entries: values.map((value) => ({ value })) });
    expect(await listed("from=shared/b&to=shared/d")).toMatchObject(entries("b", "c"));
    expect(await listed("to=shared/b")).toMatchObject(entries("a"));
    expect(await listed("to=task/")).toMatchObject(entries("a", "b", "c", "d"));
    expect(await listed("from=shared/c&to=shared/b")).toMatchObject(entries());
    const part = { prefix: "shared/", from: "shared/c", to: "shared/d" };
    const { said } = await post({
      success: [
        { type: "list", ...part },
        { type: "delete", ...part },
      ],
    });
    expect(said).toMatchObject({ results: [entries("c"), { deleted: 1 }] });
    expect((await call("DELETE", "/v1/kv?prefix=shared/&from=shared/b")).said).toMatchObject({ deleted: 2 });
    expect(await listed("")).toMatchObject(entries("a"));
    news = [{ type: "changes", attempt: 1, revision: 0, changes: [] }];
    (await scene.asked("GET", "/v1/kv?watch=true&to=shared/c")).destroy();
    expect(wanted).toEqual({ range: { from: "shared/", to: "shared/c" } });
  });

  test("deletes a key, or all that begin so", async () => {
    for (const key of ["a", "b", "c"]) await call("PUT", `/v1/kv/shared/${key}`, key);
    expect((await call("DELETE", "/v1/kv/shared/a")).said).toEqual({ revision: 4, durable: false, deleted: 1 });
    expect((await call("DELETE", "/v1/kv?prefix=shared/")).said).toEqual({ revision: 5, durable: false, deleted: 2 });
    expect((await call("DELETE", "/v1/kv")).status).toBe(400);
    const { status, said } = await call("GET", "/v1/kv/shared/a");
    expect([status, said]).toEqual([404, { error: { code: "NO_SUCH_KEY", message: "there is no key shared/a" } }]);
  });

  test("writes a key only where it is as the caller knows it", async () => {
    expect((await call("PUT", "/v1/kv/shared/leader?if-revision=0&owned=true", "1")).status).toBe(200);
    expect(await call("PUT", "/v1/kv/shared/leader?if-revision=0", "2")).toEqual({
      status: 409,
      said: { error: { code: "CONDITION", message: "shared/leader was written by revision 1: nothing is changed" } },
    });
    expect((await call("DELETE", "/v1/kv/shared/leader?if-revision=7")).status).toBe(409);
    expect((await call("PUT", "/v1/kv/shared/leader?if-revision=1", "3")).status).toBe(200);
    const { said } = await call("PUT", "/v1/kv/shared/leader?if-revision=1", "4");
    expect(said).toMatchObject({ error: { message: "shared/leader was written by revision 2: nothing is changed" } });
    expect((await call("PUT", "/v1/kv/shared/leader?if-revision=one", "3")).status).toBe(400);
  });

  test("binds a key to the life of the task", async () => {
    await call("PUT", "/v1/kv/shared/here?owned=true", "");
    expect((await call("GET", "/v1/kv/shared/here")).said).toMatchObject({
      entry: { owner: { task: "worker:1", generation: 2 } },
    });
  });

  test("carries out a transaction, all of it at once", async () => {
    const { said } = await post({
      conditions: [
        { of: "missing", key: "shared/a" },
        { of: "version", key: "shared/a", is: "<=", to: 0 },
      ],
      success: [
        { type: "put", key: "shared/a", value: "é" },
        { type: "put", key: "shared/b", valueBase64: "/w==", owned: true },
        { type: "list", prefix: "shared/", keysOnly: true },
      ],
    });
    expect(said).toMatchObject({
      revision: 1,
      succeeded: true,
      results: [{}, {}, { entries: [{ key: "shared/a" }, { key: "shared/b" }], more: false }],
    });
    const swap = { conditions: [{ of: "value", key: "shared/a", is: "=", to: "é" }] };
    const puts = [
      { type: "put", key: "shared/a", value: "2" },
      { type: "delete", key: "shared/b" },
    ];
    expect((await post({ ...swap, success: puts })).said).toMatchObject({
      succeeded: true,
      results: [{ before: { value: "é" } }, { deleted: 1 }],
    });
    expect((await post({ ...swap, success: puts, failure: [{ type: "get", key: "shared/a" }] })).said).toMatchObject({
      succeeded: false,
      results: [{ entry: { value: "2" } }],
    });
  });

  test("sends what changes line by line, one for each revision, until nobody reads", async () => {
    const entry = { key: "shared/a", value: "1", created: 8, modified: 8, version: 1 };
    news = [
      { type: "changes", attempt: 2, revision: 7, changes: [] },
      {
        type: "changes",
        attempt: 2,
        revision: 9,
        changes: [
          { type: "put", revision: 8, key: "shared/a", entry },
          { type: "delete", revision: 9, key: "shared/a" },
          { type: "delete", revision: 9, key: "shared/b" },
        ],
      },
      { type: "compacted", attempt: 2, revision: 10 },
    ];
    const response = await scene.asked("GET", "/v1/kv?watch=true&prefix=shared/&attempt=2&revision=7");
    expect(wanted).toEqual({ range: { from: "shared/", to: "shared0" }, after: { attempt: 2, revision: 7 } });
    const lines: unknown[] = [];
    for await (const line of createInterface({ input: response })) {
      lines.push(JSON.parse(line));
      if (lines.length === 4) break;
    }
    expect(lines).toEqual([
      { attempt: 2, revision: 7, changes: [] },
      { attempt: 2, revision: 8, changes: [{ type: "put", entry }] },
      {
        attempt: 2,
        revision: 9,
        changes: [
          { type: "delete", key: "shared/a" },
          { type: "delete", key: "shared/b" },
        ],
      },
      { attempt: 2, revision: 10, compacted: true },
    ]);
    expect(watching?.aborted).toBe(false);
    response.destroy();
    await eventually("the watch is ended", () => watching?.aborted === true);
  });

  test("watches a key of its own from now on, and refuses half a position", async () => {
    news = [{ type: "changes", attempt: 1, revision: 0, changes: [] }];
    const response = await scene.asked("GET", "/v1/kv/task/worker:1/a?watch=true");
    expect(wanted).toEqual({ range: { from: "task/worker:1/a", to: "task/worker:1/a\0" } });
    response.destroy();
    expect((await call("GET", "/v1/kv?watch=true&revision=7")).status).toBe(400);
  });

  test.each([
    ["what is not its own", "PUT", "/v1/kv/task/worker:0/x", "1", 403, "FORBIDDEN"],
    ["a value that is too long", "PUT", "/v1/kv/shared/x", "x".repeat((128 << 10) + 1), 413, "LIMIT"],
    ["no JSON", "POST", "/v1/kv", "put", 400, "BAD_CALL"],
    ["no transaction", "POST", "/v1/kv", '{"success": 1}', 400, "BAD_CALL"],
    ["an unknown operation", "POST", "/v1/kv", '{"success": [{"type": "swap"}]}', 400, "BAD_CALL"],
    ["a key that is no text", "POST", "/v1/kv", '{"success": [{"type": "get", "key": 1}]}', 400, "BAD_CALL"],
    ["a limit that is no number", "GET", "/v1/kv?limit=x", undefined, 400, "BAD_CALL"],
    ["a flag that is none", "GET", "/v1/kv?keys=1", undefined, 400, "BAD_CALL"],
  ])("refuses %s with one clear error", async (_what, method, route, body, status, code) => {
    expect(await call(method, route, body)).toEqual({
      status,
      said: { error: { code, message: expect.any(String) } },
    });
  });
});

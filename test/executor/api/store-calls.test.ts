import { describe, expect, test } from "@jest/globals";
import { transactFor, watchFor } from "../../../executor/api/store-calls.ts";
import { ApiError } from "../../../src/api/errors.ts";
import { transactions } from "../../../src/job/store/transaction.ts";

const call = { transaction: transactions.get("shared/a"), durable: false };
const answer = { revision: 1, succeeded: true, results: [] };
const linked = (transact: () => Promise<typeof answer> | undefined) => () => ({
  connected: async () => undefined,
  transact,
});

describe("what a program asks of the store", () => {
  test("goes to the ApplicationMaster in the name of its life, once one is connected", async () => {
    const asked: unknown[] = [];
    let isConnected = false;
    const link = () => ({
      connected: async () => {
        isConnected = true;
      },
      transact: (request: unknown) => {
        asked.push([isConnected, request]);
        return isConnected ? Promise.resolve(answer) : undefined;
      },
    });
    const wanted = { ...call, generation: 4 };
    expect(await transactFor(link, 4, call)).toEqual(answer);
    expect(await transactFor(link, 4, call)).toEqual(answer);
    expect(asked).toEqual([
      [false, wanted],
      [true, wanted],
      [true, wanted],
    ]);
  });

  test.each([
    ["nobody can say whether it was written", "API_UNREACHABLE", "UNKNOWN"],
    ["it took too long", "API_TIMEOUT", "UNKNOWN"],
    ["the store cannot be read", "API_FAILED", "STORE_AWAY"],
  ])("ends with an error that says so where %s", async (_what, code, said) => {
    const link = linked(() => Promise.reject(new ApiError("lost", { code })));
    await expect(transactFor(link, 4, call)).rejects.toMatchObject({ status: 503, code: said });
  });

  test.each([
    ["a minute", {}, 60_000],
    ["as long as it says", { timeoutMs: 45_000 }, 45_000],
  ])("waits for an ApplicationMaster and its answer %s in all", async (_what, given, wholeMs) => {
    const asked: [unknown, number][] = [];
    let [nowMs, isConnected] = [5_000, false];
    const link = () => ({
      connected: async () => {
        nowMs += 40_000;
        isConnected = true;
      },
      transact: (request: unknown, timeoutMs: number) => {
        asked.push([request, timeoutMs]);
        return isConnected ? Promise.resolve(answer) : undefined;
      },
    });
    expect(await transactFor(link, 4, { ...call, ...given }, () => nowMs)).toEqual(answer);
    const wanted = { ...call, generation: 4 };
    expect(asked).toEqual([
      [wanted, wholeMs],
      [wanted, wholeMs - 40_000],
    ]);
  });

  test("is not said to be lost where it was never sent", async () => {
    await expect(
      transactFor(
        linked(() => undefined),
        4,
        { ...call, timeoutMs: 45_000 },
      ),
    ).rejects.toMatchObject({
      status: 503,
      code: "NO_MASTER",
      message: "no ApplicationMaster was reached for 45 s: try again",
    });
  });
});

describe("a watch of a program", () => {
  const wanted = { range: { from: "shared/", to: "shared0" } };
  const told = (revision: number, attempt = 1) =>
    ({ watched: { type: "changes", attempt, revision, changes: [] } }) as const;
  const never = new AbortController().signal;

  test("goes on behind what was told, over the next ApplicationMaster, until its last word", async () => {
    const asked: unknown[] = [];
    const streams = [
      async function* () {
        yield told(3);
        throw new ApiError("lost", { code: "API_UNREACHABLE" });
      },
      async function* () {
        yield told(5);
        yield { watched: { type: "reset", attempt: 2, revision: 4 } } as const;
      },
    ];
    const link = () => ({
      connected: async () => undefined,
      watch: (request: unknown) => {
        asked.push(request);
        return streams.shift()?.();
      },
    });
    const heard: unknown[] = [];
    for await (const news of watchFor(link, wanted, never)) heard.push(news);
    expect(heard).toEqual([told(3).watched, told(5).watched, { type: "reset", attempt: 2, revision: 4 }]);
    expect(asked).toEqual([wanted.range, { ...wanted.range, after: { attempt: 1, revision: 3 } }]);
  });

  test("ends with its reader, also while no ApplicationMaster is connected", async () => {
    const gone = new AbortController();
    const away = () => ({ connected: () => new Promise<undefined>(() => undefined), watch: () => undefined });
    const next = watchFor(away, wanted, gone.signal).next();
    gone.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  test.each(["API_FAILED", "API_FORBIDDEN"])("is refused where it is not the task's to watch: %s", async (code) => {
    const link = () => ({
      connected: async () => undefined,
      watch: () =>
        (async function* () {
          yield* [];
          throw new ApiError("it is not yours", { code });
        })(),
    });
    await expect(watchFor(link, wanted, never).next()).rejects.toMatchObject({ status: 403, code: "FORBIDDEN" });
  });
});

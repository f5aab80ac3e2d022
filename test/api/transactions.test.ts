import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { ClientHandler } from "../../src/api/client-endpoint.ts";
import { ApiError } from "../../src/api/errors.ts";
import type { TaskTransaction, TaskTransactions } from "../../src/api/messages.ts";
import { Gathered, MOST_TOGETHER, Transactions } from "../../src/api/transactions.ts";
import { type StoreAnswer, transactions } from "../../src/job/store/transaction.ts";
import { executor, noClients, noSessions, openStream, startMaster } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

/** @returns asks in the name of worker:0 for that key */
async function connected(transact: ClientHandler["transact"], taskIn: () => string | undefined = () => "worker:0") {
  const master = await startMaster({ clients: { ...noClients, transact }, sessions: { ...noSessions, taskIn } });
  const { stream } = openStream({ identity: executor, address: master.address });
  ended.push(
    () => master.server.close(0),
    () => stream.close(),
  );
  const ask = (key: string, timeoutMs = 60_000) =>
    stream.transact({ transaction: transactions.get(key), durable: false, generation: 1 }, timeoutMs);
  return { ask, stream, server: master.server, address: master.address };
}

const answer = (revision: number): StoreAnswer => ({ revision, succeeded: true, results: [] });
type Wanted = Parameters<ClientHandler["transact"]>[0];
const keyOf = ({ transaction: { success } }: Wanted) => (success[0]?.type === "get" ? success[0].key : "");

/** Answers when it is told to. */
function slowStore() {
  const asked = new Map<string, (answer: StoreAnswer) => void>();
  const transact = (wanted: Wanted) => new Promise<StoreAnswer>((resolve) => asked.set(keyOf(wanted), resolve));
  return { asked, transact };
}

describe("the transactions of a task", () => {
  test("are answered as they are done, not as they came", async () => {
    const { asked, transact } = slowStore();
    const { ask } = await connected(transact);
    const [first, second] = [ask("a"), ask("b")];
    await eventually("both are asked", () => asked.size === 2);
    asked.get("b")?.(answer(2));
    expect(await second).toEqual(answer(2));
    asked.get("a")?.(answer(3));
    expect(await first).toEqual(answer(3));
  });

  test("are answered without results where those who ask want none", async () => {
    const results = [{ type: "delete", deleted: 1 }] as const;
    const { stream } = await connected(async () => ({ revision: 1, succeeded: true, results }));
    const wanted = { transaction: transactions.remove("a"), durable: false, generation: 1 };
    expect(await stream.transact(wanted, 60_000)).toMatchObject({ results });
    expect(await stream.transact({ ...wanted, withoutResults: true }, 60_000)).toMatchObject({ results: [] });
  });

  test("that come at once go together, 32 in a message, and are read while fewer than 64 wait for their answers", async () => {
    const { asked, transact } = slowStore();
    const { ask } = await connected(transact);
    const all = Array.from({ length: 100 }, (_, nth) => ask(`${nth}`));
    const tell = (from: number, to: number) => {
      for (let nth = from; nth < to; nth += 1) asked.get(`${nth}`)?.(answer(nth));
    };
    await eventually("as many are asked as may be", () => asked.size === 64);
    tell(0, 1);
    await eventually("the next message is read", () => asked.size === 96);
    tell(1, 33);
    await eventually("the last one is read", () => asked.size === 100);
    tell(33, 100);
    expect(await Promise.all(all)).toEqual(all.map((_, nth) => answer(nth)));
  });

  test("go nowhere when their stream is closed before they are sent", async () => {
    const { ask, stream } = await connected(async () => answer(1));
    const asked = ask("a");
    stream.close();
    await expect(asked).rejects.toMatchObject({ code: "API_CANCELLED" });
  });

  test("fail alone where the store cannot be read", async () => {
    const { ask } = await connected(async (wanted) => {
      if (keyOf(wanted) === "a") throw new Error("the NameNode is away");
      return answer(1);
    });
    await expect(ask("a")).rejects.toMatchObject({ code: "API_FAILED", message: "the NameNode is away" });
    expect(await ask("b")).toEqual(answer(1));
  });

  test("are refused when the container is no part of the job any more; those before are answered", async () => {
    let task: string | undefined = "worker:0";
    const { asked, transact } = slowStore();
    const { ask } = await connected(transact, () => task);
    const before = ask("a");
    await eventually("it is asked", () => asked.has("a"));
    task = undefined;
    const message = "the container is not part of the job";
    await expect(ask("b")).rejects.toMatchObject({ code: "API_FAILED", message });
    asked.get("a")?.(answer(1));
    expect(await before).toEqual(answer(1));
  });

  test("have one stream: where a container opens another, the one before ends, and one that is over is not missed", async () => {
    const { asked, transact } = slowStore();
    const { ask, address } = await connected(transact);
    const before = ask("a");
    await eventually("it is asked", () => asked.has("a"));
    const other = openStream({ identity: executor, address }).stream;
    ended.push(() => other.close());
    const askOther = (key: string) =>
      other.transact({ transaction: transactions.get(key), durable: false, generation: 1 }, 60_000);
    const second = askOther("b");
    await expect(before).rejects.toMatchObject({ message: expect.stringContaining("another stream") });
    await eventually("it is asked", () => asked.has("b"));
    asked.get("b")?.(answer(2));
    expect(await second).toEqual(answer(2));
    const again = ask("c");
    await eventually("it is asked", () => asked.has("c"));
    asked.get("c")?.(answer(3));
    expect(await again).toEqual(answer(3));
  });

  test("end without an answer after their time, with the stream, or with the ApplicationMaster", async () => {
    const { asked, transact } = slowStore();
    const { ask, stream } = await connected(transact);
    await expect(ask("a", 50)).rejects.toMatchObject({ code: "API_TIMEOUT", retryable: true });
    asked.get("a")?.(answer(1));
    const own = ask("b");
    await eventually("it is asked", () => asked.has("b"));
    stream.close();
    await expect(own).rejects.toMatchObject({ code: "API_CANCELLED" });

    const other = await connected(transact);
    const lost = other.ask("c");
    await eventually("it is asked", () => asked.has("c"));
    await other.server.close(0);
    await expect(lost).rejects.toMatchObject({ name: "ApiError", code: expect.not.stringMatching("API_FAILED") });
  });

  test.each(["error", "end"])("open another stream when theirs is lost by its %s", async (how) => {
    class Stream extends EventEmitter {
      readonly written: TaskTransaction[] = [];
      write({ together }: TaskTransactions): void {
        this.written.push(...together);
      }
      cancel(): void {}
    }
    const streams: Stream[] = [];
    const toError = () => new ApiError("the stream broke", { code: "API_UNREACHABLE", retryable: true });
    const all = new Transactions(() => {
      const stream = new Stream();
      streams.push(stream);
      return stream;
    }, toError);
    const ask = () => all.transact({ transaction: transactions.get("a"), durable: false, generation: 1 }, 60_000);
    const lost = expect(ask()).rejects.toMatchObject({ code: "API_UNREACHABLE", retryable: true });
    await eventually("it is sent", () => streams.length === 1);
    const unsent = expect(ask()).rejects.toMatchObject({ code: "API_UNREACHABLE", retryable: true });
    streams[0]?.emit(how, new Error("reset"));
    await Promise.all([lost, unsent]);
    const next = ask();
    await eventually("another one is opened", () => streams.length === 2);
    const [asked, ...others] = streams[1]?.written ?? [];
    // What was said to have no answer is not done afterwards.
    expect(others).toEqual([]);
    streams[1]?.emit("data", { together: [{ id: asked?.id, answer: answer(1) }] });
    expect(await next).toEqual(answer(1));
  });
});

describe("what comes within one turn of the event loop", () => {
  let sent: (readonly string[])[];
  let gathered: Gathered<string>;
  beforeEach(() => {
    jest.useFakeTimers();
    sent = [];
    gathered = new Gathered((together) => sent.push(together));
  });
  afterEach(() => void jest.useRealTimers());

  /** All of these within one turn of the event loop. @returns the messages in which they were sent */
  function sentOf(items: readonly string[]): (readonly string[])[] {
    for (const item of items) gathered.add(item);
    jest.runAllTimers();
    return sent.splice(0);
  }

  const most = Array.from({ length: MOST_TOGETHER }, (_, number) => String(number));
  /** As text it counts half of what may go together. */
  const half = "x".repeat((32 << 10) - 4);

  test("is sent together, in its order, once the turn is over; so it is in each further turn", () => {
    for (const turn of [1, 2, 3]) {
      gathered.add(`${turn}`);
      expect(sent).toEqual([]);
      expect(sentOf(["a", "b"])).toEqual([[`${turn}`, "a", "b"]]);
    }
    expect(sentOf([])).toEqual([]);
  });

  test("is sent in several messages where it is too many, or too much, however much was sent before", () => {
    for (const _ of [1, 2]) {
      expect(sentOf(most)).toEqual([most]);
      expect(sentOf([...most, "one more"])).toEqual([most, ["one more"]]);
      expect(sentOf([half, half])).toEqual([[half, half]]);
      expect(sentOf([half, "y", half, half])).toEqual([
        [half, "y"],
        [half, half],
      ]);
    }
  });

  test("is sent alone where it is too much by itself", () => {
    const long = half.repeat(3);
    expect(sentOf(["a", long, "b"])).toEqual([["a"], [long], ["b"]]);
  });
});

import { EventEmitter } from "node:events";
import { describe, expect, test } from "@jest/globals";
import type { WatchReply } from "../../src/api/messages.ts";
import { serveWatch, type WatchHandler } from "../../src/api/watch-stream.ts";
import type { Watched } from "../../src/job/store/watched.ts";
import { eventually } from "../support/eventually.ts";

const request = { hello: { protocol: 1, build: "test" }, from: "a" };
const changes: Watched = { type: "changes", attempt: 1, revision: 2, changes: [] };

/** A watch of worker:0, whose reader takes so many messages before he wants to be waited for. */
function scene({ takes = 10, refused = false } = {}) {
  const said: WatchReply[] = [];
  const errors: unknown[] = [];
  const watches: unknown[] = [];
  let ends = 0;
  let stops = 0;
  const stream = Object.assign(new EventEmitter(), {
    request,
    write: (reply: WatchReply) => said.push(reply) < takes,
    end: () => {
      ends += 1;
    },
  });
  stream.on("error", (error) => errors.push(error));
  let begin: () => void = () => undefined;
  let tell: Parameters<WatchHandler["watch"]>[1] = async () => undefined;
  const handler: WatchHandler = {
    watch: async (wanted, telling, task) => {
      watches.push([wanted, task]);
      tell = telling;
      if (refused) throw new Error("that is not yours to know");
      await new Promise<void>((resolve) => {
        begin = resolve;
      });
      return () => {
        stops += 1;
      };
    },
  };
  serveWatch(stream, handler, "worker:0");
  return {
    stream,
    said,
    errors,
    watches,
    tell: () => tell,
    begin: () => begin(),
    ends: () => ends,
    stops: () => stops,
  };
}

describe("who watches the store", () => {
  test("is told of changes as he reads, in the name of his task", async () => {
    const { stream, said, tell, watches, ends } = scene({ takes: 1 });
    let isTold = false;
    void tell()(changes).then(() => {
      isTold = true;
    });
    await Promise.resolve();
    expect([said, isTold]).toEqual([[{ watched: changes }], false]);
    stream.emit("drain");
    await eventually("it is told", () => isTold);
    expect(watches).toEqual([[request, "worker:0"]]);
    expect(ends()).toBe(0);
  });

  test("is told nothing after a last word", async () => {
    const { tell, ends } = scene();
    await tell()({ type: "reset", attempt: 2, revision: 1 });
    expect(ends()).toBe(1);
  });

  test.each(["cancelled", "close", "finish", "error"])("is not told any more after his %s", async (event) => {
    const { stream, begin, stops, tell, said } = scene();
    begin();
    await new Promise((resolve) => setImmediate(resolve));
    stream.emit(event);
    await tell()(changes);
    expect([stops(), said]).toEqual([1, []]);
  });

  test("that has gone before it began is not told of anything", async () => {
    const { stream, begin, stops } = scene();
    stream.emit("close");
    expect(stops()).toBe(0);
    begin();
    await eventually("it is stopped", () => stops() === 1);
  });

  test("may be told why not", async () => {
    const { errors } = scene({ refused: true });
    await eventually("he is told", () => errors.length === 1);
    expect(errors).toEqual([expect.objectContaining({ message: "that is not yours to know", code: 10 })]);
  });
});

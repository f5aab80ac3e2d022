import { getEventListeners } from "node:events";
import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import { readStream } from "../../src/api/read-stream.ts";

/** A stream of these messages, which then stays open, ends or breaks. */
class Source extends Readable {
  cancelled = 0;

  constructor(messages: readonly string[], then: "stays" | "ends" | "breaks") {
    super({ objectMode: true, read: () => undefined });
    for (const message of messages) this.push(message);
    if (then === "ends") this.push(null);
    if (then === "breaks") setImmediate(() => this.destroy(new Error("reset")));
  }

  cancel(): void {
    this.cancelled += 1;
    this.destroy(this.readableEnded ? undefined : new Error("cancelled"));
  }
}

const toError = (error: unknown) => new RangeError(`it broke: ${String(error)}`);

async function read(source: Source, signal?: AbortSignal, most = Number.POSITIVE_INFINITY) {
  const said: string[] = [];
  for await (const message of readStream<string>(() => source, toError, signal)) {
    said.push(message);
    if (said.length === most) break;
  }
  return said;
}

describe("what a server sends", () => {
  test("is read to its end, or until it breaks, with the error then", async () => {
    expect(await read(new Source(["a", "b"], "ends"))).toEqual(["a", "b"]);
    await expect(read(new Source(["a"], "breaks"))).rejects.toThrow("it broke: Error: reset");
  });

  test("is cancelled when nobody wants more of it, without an error", async () => {
    const left = new Source(["a", "b"], "stays");
    expect(await read(left, undefined, 1)).toEqual(["a"]);
    expect(left.cancelled).toBeGreaterThan(0);
    const abort = new AbortController();
    const aborted = new Source(["a"], "stays");
    setImmediate(() => abort.abort());
    expect(await read(aborted, abort.signal)).toEqual(["a"]);
    expect(aborted.cancelled).toBeGreaterThan(0);
    const { signal } = new AbortController();
    await read(new Source(["a"], "ends"), signal);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("is not asked for where nobody wants it any more", async () => {
    const never = () => {
      throw new RangeError("it is opened");
    };
    for await (const message of readStream<string>(never, toError, AbortSignal.abort()))
      expect(message).toBe("nothing");
    expect(await read(new Source([], "ends"))).toEqual([]);
  });
});

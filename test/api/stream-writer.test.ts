import { describe, expect, it } from "@jest/globals";
import { StreamWriter } from "../../src/api/stream-writer.ts";

/** A transport that takes so many messages and then wants to be waited for. */
class Transport {
  readonly written: string[] = [];
  room: number;
  #drain: (() => void) | undefined;

  constructor(room: number) {
    this.room = room;
  }

  write(message: string): boolean {
    this.written.push(message);
    this.room -= 1;
    return this.room > 0;
  }

  once(_event: "drain", listener: () => void): void {
    this.#drain = listener;
  }

  drain(room: number): void {
    this.room = room;
    const listener = this.#drain;
    this.#drain = undefined;
    listener?.();
  }
}

function writerOver(transport: Transport, limit = 100) {
  const overflows: string[] = [];
  const writer = new StreamWriter<string>(transport, { limit, onOverflow: () => overflows.push("overflow") });
  return { writer, overflows };
}

describe("the writer of a stream", () => {
  it("keeps order and waits while the transport is full", () => {
    const transport = new Transport(2);
    const { writer } = writerOver(transport);
    for (const message of ["a", "b", "c", "d"]) writer.send(message);
    expect(transport.written).toEqual(["a", "b"]);
    transport.drain(10);
    expect(transport.written).toEqual(["a", "b", "c", "d"]);
  });

  it("lets a newer status take the place of one that still waits, and drops nothing else", () => {
    const transport = new Transport(1);
    const { writer } = writerOver(transport);
    writer.send("first");
    writer.send("status 1", "status");
    writer.send("exit of worker:0");
    writer.send("status 2", "status");
    writer.send("exit of worker:1");
    transport.drain(10);
    expect(transport.written).toEqual(["first", "status 2", "exit of worker:0", "exit of worker:1"]);
  });

  it("resolves drained when all is taken", async () => {
    const transport = new Transport(1);
    const { writer } = writerOver(transport);
    await writer.drained();
    writer.send("a");
    let drained = false;
    const waiting = writer.drained().then(() => {
      drained = true;
    });
    await Promise.resolve();
    expect(drained).toBe(false);
    transport.drain(5);
    await waiting;
    expect(drained).toBe(true);
  });

  it("does not resolve drained when only some is taken", async () => {
    const transport = new Transport(1);
    const { writer } = writerOver(transport);
    for (const message of ["a", "b", "c"]) writer.send(message);
    let drained = false;
    const waiting = writer.drained().then(() => {
      drained = true;
    });
    transport.drain(1);
    await Promise.resolve();
    expect([drained, transport.written]).toEqual([false, ["a", "b"]]);
    transport.drain(5);
    await waiting;
    expect(transport.written).toEqual(["a", "b", "c"]);
  });

  it("gives the stream up when the peer does not read", () => {
    const transport = new Transport(1);
    const { writer, overflows } = writerOver(transport, 3);
    for (let message = 0; message < 4; message += 1) writer.send(String(message));
    expect([writer.waiting, overflows]).toEqual([3, []]);
    for (let message = 4; message < 10; message += 1) writer.send(String(message));
    expect(overflows).toEqual(["overflow"]);
    transport.drain(10);
    expect(transport.written).toEqual(["0"]);
  });

  it("writes nothing once it is closed, and keeps nobody waiting", async () => {
    const transport = new Transport(1);
    const { writer } = writerOver(transport);
    writer.send("a");
    writer.send("b");
    const waiting = writer.drained();
    writer.close();
    await waiting;
    writer.send("c");
    transport.drain(10);
    expect(transport.written).toEqual(["a"]);
  });
});

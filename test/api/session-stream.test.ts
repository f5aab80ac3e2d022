import { Duplex } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import { ApiError } from "../../src/api/errors.ts";
import { SessionStream } from "../../src/api/session-stream.ts";

interface Message {
  readonly type: string;
  readonly data?: Uint8Array;
}

/** A stream that takes one message and then wants to be waited for, until `letGo` is called. */
class Carrier extends Duplex {
  readonly sent: Message[] = [];
  isCancelled = false;
  ends = 0;
  readonly #isSlow: boolean;
  #taken: (() => void) | undefined;

  constructor(isSlow: boolean) {
    super({ objectMode: true, highWaterMark: 1 });
    this.#isSlow = isSlow;
    this.on("finish", () => {
      this.ends += 1;
    });
  }

  override _read(): void {}

  override _write(message: Message, _encoding: string, done: () => void): void {
    this.sent.push(message);
    if (this.#isSlow) this.#taken = done;
    else done();
  }

  letGo(): void {
    this.#taken?.();
  }

  cancel(): void {
    this.isCancelled = true;
  }
}

function scene({ isSlow = false } = {}) {
  const carrier = new Carrier(isSlow);
  const toError = (error: unknown) => new ApiError(`it broke: ${String(error)}`, { code: "API_UNREACHABLE" });
  return { carrier, session: new SessionStream<Message, Message>(carrier, toError) };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("a side of a session", () => {
  test.each([
    [65_536, [65_536]],
    [65_537, [65_536, 1]],
    [3 * 65_536, [65_536, 65_536, 65_536]],
  ])("sends %i bytes in pieces, in their order", async (length, pieces) => {
    const { carrier, session } = scene();
    const data = Buffer.alloc(length, "abc");
    await session.send({ type: "output", data });
    expect(carrier.sent.map((message) => [message.type, message.data?.length])).toEqual(
      pieces.map((bytes) => ["output", bytes]),
    );
    expect(Buffer.concat(carrier.sent.map((message) => message.data ?? Buffer.alloc(0))).equals(data)).toBe(true);
  });

  test("sends what has no data as it is, and waits until the other side takes it", async () => {
    const { carrier, session } = scene({ isSlow: true });
    const said: string[] = [];
    void session.send({ type: "resize" }).then(() => said.push("sent"));
    await turn();
    expect([carrier.sent, said]).toEqual([[{ type: "resize" }], []]);
    carrier.letGo();
    await turn();
    expect(said).toEqual(["sent"]);
  });

  test("waits for nobody once it is over, and sends nothing then", async () => {
    const { carrier, session } = scene({ isSlow: true });
    const waiting = session.send({ type: "a" });
    carrier.emit("error", "reset");
    await waiting;
    expect(await session.over).toMatchObject({ code: "API_UNREACHABLE", message: "it broke: reset" });
    await session.send({ type: "b" });
    session.finish({ type: "c" });
    expect(carrier.sent).toEqual([{ type: "a" }]);
  });

  test("ends once, with a last message", async () => {
    const { carrier, session } = scene();
    session.finish({ type: "last" });
    session.finish({ type: "more" });
    await session.send({ type: "more" });
    await turn();
    expect([carrier.sent, carrier.ends]).toEqual([[{ type: "last" }], 1]);
  });

  test("takes each message when it is done with the one before, until the other side ends", async () => {
    const { carrier, session } = scene();
    const said: string[] = [];
    const received = session.receive(async ({ type }) => {
      said.push(`${type} begins`);
      await turn();
      said.push(`${type} is done`);
    });
    for (const message of [{ type: "a" }, { type: "b" }, null]) carrier.push(message);
    await received;
    expect(said).toEqual(["a begins", "a is done", "b begins", "b is done"]);
    expect(await session.over).toBeUndefined();
  });

  test("tells by its end alone that it broke, and is cancelled at once", async () => {
    const { carrier, session } = scene();
    const received = session.receive(async () => undefined);
    carrier.destroy(new Error("reset"));
    expect(await session.over).toMatchObject({ code: "API_UNREACHABLE" });
    await expect(received).resolves.toBeUndefined();
    session.cancel();
    expect(carrier.isCancelled).toBe(true);
  });
});

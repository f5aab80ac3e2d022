import { describe, expect, it } from "@jest/globals";
import { PacedSends } from "../../am/paced-sends.ts";
import { SteppedClock } from "../support/stepped-clock.ts";

/** Notes what is sent, and takes it when the test says so. */
class Transport {
  readonly sent: string[] = [];
  #untaken: (() => void)[] = [];

  send(name: string): (taken: () => void) => void {
    return (taken) => {
      this.sent.push(name);
      this.#untaken.push(taken);
    };
  }

  takeOne(): void {
    this.#untaken.shift()?.();
  }
}

describe("sending to many, a few at a time", () => {
  it("sends the next when one has gone out", () => {
    const transport = new Transport();
    const paced = new PacedSends(new SteppedClock(), 2);
    for (const name of ["a", "b", "c", "d"]) paced.add(name, transport.send(name));
    expect(transport.sent).toEqual(["a", "b"]);
    transport.takeOne();
    expect(transport.sent).toEqual(["a", "b", "c"]);
  });

  it("says for whom something waits, so that what follows keeps its order", () => {
    const transport = new Transport();
    const paced = new PacedSends(new SteppedClock(), 1);
    paced.add("worker:0", transport.send("start worker:0"));
    paced.add("worker:1", transport.send("start worker:1"));
    expect([paced.isWaiting("worker:0"), paced.isWaiting("worker:1")]).toEqual([false, true]);
    paced.add("worker:1", transport.send("stop worker:1"));
    transport.takeOne();
    expect(paced.isWaiting("worker:1")).toBe(true);
    transport.takeOne();
    expect(transport.sent).toEqual(["start worker:0", "start worker:1", "stop worker:1"]);
    expect(paced.isWaiting("worker:1")).toBe(false);
  });

  it("waits a second for a receiver that does not read, and then goes on without it", async () => {
    const transport = new Transport();
    const clock = new SteppedClock();
    const paced = new PacedSends(clock, 1);
    paced.add("frozen", transport.send("frozen"));
    paced.add("healthy", transport.send("healthy"));
    await clock.pass(999);
    expect(transport.sent).toEqual(["frozen"]);
    await clock.pass(1);
    expect(transport.sent).toEqual(["frozen", "healthy"]);
  });

  it("counts a message that is taken late once", async () => {
    const transport = new Transport();
    const clock = new SteppedClock();
    const paced = new PacedSends(clock, 1);
    for (const name of ["frozen", "b", "c"]) paced.add(name, transport.send(name));
    await clock.pass(1_000);
    transport.takeOne();
    expect(transport.sent).toEqual(["frozen", "b"]);
  });
});

import { describe, expect, test } from "@jest/globals";
import { Turns } from "../../../client/submission/turns.ts";

const never = new AbortController().signal;

/** Work that ends when it is told to, and says when it has begun. */
function work() {
  let end = () => {};
  const promise = new Promise<void>((resolve) => {
    end = resolve;
  });
  const begun: string[] = [];
  const of = (name: string) => async () => {
    begun.push(name);
    await promise;
  };
  return { begun, end: () => end(), of };
}

describe("turns", () => {
  test("let so many work at once, and the others in their order as one ends", async () => {
    const turns = new Turns(2);
    const [first, rest] = [work(), work()];
    const taken = [turns.take(never, first.of("a")), turns.take(never, rest.of("b")), turns.take(never, rest.of("c"))];
    await Promise.resolve();
    expect([...first.begun, ...rest.begun]).toEqual(["a", "b"]);
    first.end();
    await taken[0];
    await Promise.resolve();
    expect(rest.begun).toEqual(["b", "c"]);
    rest.end();
    await Promise.all(taken);
    await turns.take(never, async () => rest.begun.push("d"));
    expect(rest.begun).toEqual(["b", "c", "d"]);
  });

  test("do not keep whom the signal calls off, and pass on to the next", async () => {
    const turns = new Turns(1);
    const [held, later] = [work(), work()];
    const off = new AbortController();
    const first = turns.take(never, held.of("first"));
    const calledOff = turns.take(off.signal, async () => "called off");
    const last = turns.take(never, later.of("last"));
    off.abort();
    expect(await calledOff).toBe("called off");
    expect(later.begun).toEqual([]);
    held.end();
    await first;
    later.end();
    await last;
    expect(later.begun).toEqual(["last"]);
  });

  test("are not more afterwards, for all that were called off without one", async () => {
    const turns = new Turns(1);
    const [held, later] = [work(), work()];
    const first = turns.take(never, held.of("first"));
    const off = new AbortController();
    const calledOff = [1, 2].map(() => turns.take(off.signal, async () => {}));
    off.abort();
    await Promise.all([...calledOff, turns.take(off.signal, async () => {})]);
    const others = ["second", "third"].map((name) => turns.take(never, later.of(name)));
    await Promise.resolve();
    expect(later.begun).toEqual([]);
    held.end();
    await first;
    await Promise.resolve();
    expect(later.begun).toEqual(["second"]);
    later.end();
    await Promise.all(others);
  });

  test("are not more afterwards, for all that ended while nobody waited", async () => {
    const turns = new Turns(1);
    await turns.take(never, async () => {});
    const later = work();
    const others = ["second", "third"].map((name) => turns.take(never, later.of(name)));
    await Promise.resolve();
    expect(later.begun).toEqual(["second"]);
    later.end();
    await Promise.all(others);
  });

  test("leave the others where they are when one is called off that has had to wait and works by now", async () => {
    const turns = new Turns(1);
    const [first, second, third] = [work(), work(), work()];
    const off = new AbortController();
    const taken = turns.take(never, first.of("first"));
    const calledOff = turns.take(off.signal, second.of("second"));
    const last = turns.take(never, third.of("third"));
    first.end();
    await taken;
    await Promise.resolve();
    expect(second.begun).toEqual(["second"]);
    off.abort();
    second.end();
    await calledOff;
    await Promise.resolve();
    expect(third.begun).toEqual(["third"]);
    third.end();
    await last;
  });

  test("go on after work that failed", async () => {
    const turns = new Turns(1);
    await expect(turns.take(never, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await turns.take(never, async () => 1)).toBe(1);
  });
});

import { describe, expect, test } from "@jest/globals";
import { ReadAhead } from "../../../executor/feeds/read-ahead.ts";
import type { Pause } from "../../../executor/feeds/read-split.ts";
import { turn } from "../../support/stepped-clock.ts";

interface Part {
  readonly start: number;
  readonly end: number;
}

/** Files whose readings stay open until they are let go on. */
class Files {
  readonly begun: number[] = [];
  readonly #waiting: (() => void)[] = [];
  chunk = "row\n";
  chunks = 1;
  broken = false;
  readonly ahead = new ReadAhead<Part>((part, pause) => this.#read(part, pause));

  async *#read({ start }: Part, pause?: Pause): AsyncGenerator<Buffer, void> {
    this.begun.push(start);
    if (pause !== undefined) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.broken) await pause?.(250, new Error("it is away"));
    for (let count = 0; count < this.chunks; count += 1) yield Buffer.from(this.chunk);
  }

  async goOn(): Promise<void> {
    for (const resolve of this.#waiting.splice(0)) resolve();
    await turn();
  }

  async read(part: Part): Promise<number> {
    let bytes = 0;
    for await (const chunk of this.ahead.take(part)) bytes += chunk.length;
    return bytes;
  }
}

const parts = (count: number): readonly Part[] =>
  Array.from({ length: count }, (_, number) => ({ start: number, end: number + 4 }));

describe("small splits", () => {
  test("are read before they are asked for, eight at a time, and each once", async () => {
    const files = new Files();
    const some = parts(10);
    files.ahead.begin(some);
    files.ahead.begin(some);
    await turn();
    expect(files.begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    await files.goOn();
    await files.goOn();
    for (const part of some) expect(await files.read(part)).toBe(4);
    expect(files.begun).toEqual(some.map(({ start }) => start));
  });

  test("are read eight at a time again when others have been read, whatever became of those", async () => {
    const files = new Files();
    const some = parts(24);
    for (const [from, broken] of [
      [0, true],
      [8, false],
      [16, false],
    ] as const) {
      files.broken = broken;
      files.ahead.begin(some.slice(from, from + 8));
      await turn();
      expect(files.begun).toHaveLength(from + 8);
      await files.goOn();
    }
  });

  test("are so by their length, wherever in a file they begin; longer ones are read when they are asked for", async () => {
    const files = new Files();
    const [last, long] = [
      { start: 1 << 30, end: (1 << 30) + (128 << 10) },
      { start: 0, end: (128 << 10) + 1 },
    ];
    files.ahead.begin([last, long]);
    await turn();
    expect(files.begun).toEqual([last.start]);
    await files.goOn();
    expect(await files.read(long)).toBe(4);
  });

  test("are read again once they are used, and when reading them ahead would have to wait for a NameNode", async () => {
    const files = new Files();
    const [first = { start: 0, end: 4 }, second = { start: 1, end: 5 }] = parts(2);
    files.ahead.begin([first]);
    await files.goOn();
    files.ahead.drop(first);
    files.broken = true;
    files.ahead.begin([second]);
    await files.goOn();
    expect([await files.read(first), await files.read(second)]).toEqual([4, 4]);
    expect(files.begun).toEqual([0, 1, 0, 1]);
  });

  test("are not kept where they are large, or are unpacked to much", async () => {
    const files = new Files();
    const large = { start: 0, end: 128 * 1024 + 1 };
    files.ahead.begin([large]);
    expect([await files.read(large), files.begun]).toEqual([4, [0]]);
    const packed = { start: 1, end: 2 };
    Object.assign(files, { chunk: "x".repeat(1 << 18), chunks: 3 });
    files.ahead.begin([packed]);
    await files.goOn();
    expect([await files.read(packed), files.begun]).toEqual([3 << 18, [0, 1, 1]]);
  });
});

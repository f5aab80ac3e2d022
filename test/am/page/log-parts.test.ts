import { describe, expect, test } from "@jest/globals";
import { MOST_PART_BYTES, MOST_READINGS, parseReadings, type ReadLog, readParts } from "../../../am/page/log-parts.ts";

/** A log of which `removed` bytes at its beginning are gone, sent in pieces. */
function logOf(text: string, { removed = 0, pieceBytes = 4 } = {}): ReadLog {
  const whole = Buffer.from(text);
  return ({ stream, offset }, reader) => {
    let isStopped = false;
    const from = offset < 0 ? Math.max(0, whole.length + offset) : offset;
    void (async () => {
      let at = Math.max(from, removed);
      let skippedBytes = at - from;
      while (!isStopped && at < whole.length) {
        const data = whole.subarray(at, at + pieceBytes);
        await reader.send({ tailId: 0, stream, offset: at, data, end: false, generation: 1, skippedBytes });
        at += data.length;
        skippedBytes = 0;
      }
      const last = { tailId: 0, stream, offset: at, data: Buffer.of(), end: true, generation: 1, skippedBytes };
      if (!isStopped) await reader.send(last);
    })();
    return () => {
      isStopped = true;
    };
  };
}

async function part(text: string, offset: number, how: Parameters<typeof logOf>[1] = {}) {
  const [only] = await readParts([{ task: "worker:0", stream: "stdout", offset }], logOf(text, how));
  return only;
}

describe("what a page is given of a log", () => {
  test("is what was added since, line by line: what is not complete comes with the next", async () => {
    expect(await part("one\ntwo\nthr", 0)).toEqual({
      ...{ task: "worker:0", stream: "stdout", next: 8, text: "one\ntwo\n", missingBytes: 0 },
    });
    expect(await part("one\ntwo\nthree\n", 8)).toMatchObject({ next: 14, text: "three\n" });
    expect(await part("one\n", 4)).toMatchObject({ next: 4, text: "" });
    expect(await part("epoch 1\repoch 2\repo", 0)).toMatchObject({ next: 16, text: "epoch 1\repoch 2\r" });
  });

  test("is from its last bytes whole lines, and a line alone that is not complete", async () => {
    expect(await part("one\ntwo\nthree\n", -8)).toMatchObject({ next: 14, text: "three\n" });
    expect(await part("one\n", -100)).toMatchObject({ next: 4, text: "one\n" });
    expect(await part("Password: ", 0)).toMatchObject({ next: 10, text: "Password: " });
  });

  test("says what is gone", async () => {
    expect(await part("one\ntwo\n", 0, { removed: 4 })).toMatchObject({ next: 8, text: "two\n", missingBytes: 4 });
  });

  test("shares one bounded answer among all that are asked", async () => {
    const long = `${"x".repeat(99)}\n`.repeat(10_000);
    const readings = [0, 1].map((index) => ({ task: `worker:${index}`, stream: "stdout", offset: 0 }) as const);
    const parts = await readParts(readings, logOf(long, { pieceBytes: 65_536 }));
    for (const { text, next } of parts) {
      expect(text.length).toBe(next);
      expect(next).toBeLessThanOrEqual(MOST_PART_BYTES / 2);
      expect(next).toBeGreaterThan(MOST_PART_BYTES / 2 - 200);
    }
    const endless = await part("x".repeat(2 * MOST_PART_BYTES), 0, { pieceBytes: 50_000 });
    expect(endless).toMatchObject({ next: MOST_PART_BYTES });
  });

  test("begins no further back than there is place for, and ends when that is full", async () => {
    const begun: number[] = [];
    let ended = 0;
    const long = logOf(`${"x".repeat(99)}\n`.repeat(10_000), { pieceBytes: 4_096 });
    const readLog: ReadLog = (wanted, reader) => {
      begun.push(wanted.offset);
      const stop = long(wanted, reader);
      return () => {
        ended += 1;
        stop();
      };
    };
    const readings = Array.from({ length: MOST_READINGS }, (_, index) => {
      return { task: `worker:${index}`, stream: "stdout", offset: index === 0 ? -100 : -1_000_000 } as const;
    });
    const parts = await readParts(readings, readLog);
    expect(parts.flatMap(({ trouble = [] }) => trouble)).toEqual([]);
    expect(begun).toEqual([-100, ...readings.slice(1).map(() => -MOST_PART_BYTES / MOST_READINGS)]);
    expect(ended).toBe(MOST_READINGS);
  });

  test("says which executor does not answer, and stops asking it", async () => {
    const stopped: string[] = [];
    const silent: ReadLog =
      ({ task }) =>
      () =>
        void stopped.push(task);
    const [only] = await readParts([{ task: "worker:0", stream: "stdout", offset: 7 }], silent, 1);
    expect(only).toMatchObject({ next: 7, text: "", trouble: "worker:0 does not answer" });
    expect(stopped).toEqual(["worker:0"]);
  });
});

test("a page asks for logs by task, stream and place, for so many at once", () => {
  expect(parseReadings("worker:0~stdout~-16384,am~stdout~12")).toEqual([
    { task: "worker:0", stream: "stdout", offset: -16_384 },
    { task: "am", stream: "stdout", offset: 12 },
  ]);
  const one = "worker:0~stderr~0";
  expect(parseReadings(Array.from({ length: MOST_READINGS }, () => one).join(","))).toHaveLength(MOST_READINGS);
  const tooMany = Array.from({ length: MOST_READINGS + 1 }, () => one).join(",");
  for (const text of [tooMany, "", "worker:0", "worker:0~index~0", "worker:0~stdout~x", `${one},`, "../x~stdout~0"])
    expect(parseReadings(text)).toBeUndefined();
});

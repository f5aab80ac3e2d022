import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { closedLogName } from "../../src/job/closed-log.ts";
import { formatMark, OUTPUT_INDEX } from "../../src/job/output-index.ts";
import type { StoredLogs } from "../../src/logs/log-store.ts";
import type { LineFilter, OutputPiece } from "../../src/logs/ordered-output.ts";
import { closedOutput, storedOutput } from "../../src/logs/stored-output.ts";
import { StoredTask } from "../../src/logs/stored-tasks.ts";
import { allOf, containerId, storeOf, tenancy } from "./stored-logs.ts";

/** A store whose files are open only as long as they are looked through. */
class OpenWhileRead implements StoredLogs {
  #isOpen = false;

  async *logs() {
    this.#isOpen = true;
    try {
      yield { containerId, name: OUTPUT_INDEX, lengthBytes: 0, content: this.#content() };
    } finally {
      this.#isOpen = false;
    }
  }

  async *#content(): AsyncGenerator<Uint8Array> {
    await turn();
    if (!this.#isOpen) throw new Error("the file was given up before its content had come");
    yield new Uint8Array(0);
  }
}

test("the index of a task's output is read to its end before the file that it is in is given up", async () => {
  const output = await storedOutput(new OpenWhileRead(), tenancy);
  expect(output.marks).toEqual([]);
});

test("an index that was closed is read with what was closed of it, wherever its node stored that", async () => {
  const [first = "", second = "", third = ""] = [1, 2, 3].map((atMs) =>
    formatMark({ atMs, generation: 1, stdoutBytes: atMs, stderrBytes: 0 }),
  );
  const store = storeOf([
    [closedLogName(OUTPUT_INDEX, 0), first],
    [closedLogName("stdout", 0), "a"],
    [OUTPUT_INDEX, third],
    [closedLogName(OUTPUT_INDEX, 8), second],
    ["stdout", "bc"],
  ]);
  const output = await storedOutput(store, tenancy);
  expect(output.marks.map(({ atMs }) => atMs)).toEqual([1, 2, 3]);
});

test("the output of a container is its own, whatever others have of that name", async () => {
  const other = "container_1795305600000_0001_01_000003";
  const mark = (atMs: number) => formatMark({ atMs, generation: 1, stdoutBytes: 3, stderrBytes: 0 });
  const store = storeOf([
    [OUTPUT_INDEX, mark(1), other],
    ["stdout", "no\n", other],
    [OUTPUT_INDEX, mark(2)],
    ["stdout", "yes"],
  ]);
  const output = await storedOutput(store, tenancy);
  expect(output.marks.map(({ atMs }) => atMs)).toEqual([2]);
  expect(joined(await allOf(output.open("stdout", 0)), 0)).toBe("yes");
});

test("a stream whose end the index knows is looked for once, and of what lies before the wanted byte nothing is read", async () => {
  const mark = formatMark({ atMs: 1, generation: 1, stdoutBytes: 90, stderrBytes: 6 });
  const all = storeOf([
    [OUTPUT_INDEX, mark],
    [closedLogName("stderr", 0), "abc"],
    ["stderr", "abcdef"],
    [closedLogName("stdout", 0), "0123"],
    [closedLogName("stdout", 4), "4567"],
    ["stdout", "89"],
  ]);
  let looks = 0;
  const opened: string[] = [];
  const output = await storedOutput(
    {
      async *logs(wanted) {
        looks += 1;
        for await (const file of all.logs(wanted)) {
          const content = async function* () {
            opened.push(file.name);
            yield* file.content;
          };
          yield { ...file, content: content() };
        }
      },
    },
    tenancy,
  );
  looks = 0;
  await allOf(output.open("stderr", 0));
  expect(looks).toBe(1);
  opened.length = 0;
  expect(joined(await allOf(output.open("stdout", 5)), 5)).toBe("56789");
  expect(opened).toEqual([closedLogName("stdout", 4), "stdout"]);
  opened.length = 0;
  expect(joined(await allOf(output.open("stdout", 4)), 4)).toBe("456789");
  expect(opened).toEqual([closedLogName("stdout", 4), "stdout"]);
});

test("of one stream alone the other is not read", async () => {
  const read: string[] = [];
  const store: StoredLogs = {
    async *logs() {
      for (const name of ["stderr", "stdout"]) {
        const content = async function* () {
          read.push(name);
          yield Buffer.from(`in ${name}\n`);
        };
        yield { containerId, name, lengthBytes: 10, content: content() };
      }
    },
  };
  const lines = async (filter: LineFilter) =>
    (await allOf(new StoredTask().lines(store, [tenancy], filter))).map(({ line }) => line);
  expect(await lines({ stream: "stderr" })).toEqual(["in stderr"]);
  expect(read).toEqual(["stderr"]);
  expect(await lines({})).toEqual(["in stdout", "in stderr"]);
});

test("what was closed of a log is its own, whatever else was closed there or has that name elsewhere", async () => {
  const other = "container_1795305600000_0001_01_000003";
  const store = storeOf([
    [closedLogName("stdout", 0), "no", other],
    [closedLogName("stderr", 0), "no"],
    [closedLogName("stdout", 0), "yes"],
  ]);
  expect(joined(await allOf(closedOutput(store, { containerId, log: "stdout" }, 0, 9)), 0)).toBe("yes");
});

/** A log of digits, cut where it was closed, as one store or another has it. */
const closedLogs = fc
  .record({
    sizes: fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 4 }),
    lastSize: fc.nat(9),
    lastStands: fc.nat(4),
    twice: fc.boolean(),
    isIndexed: fc.boolean(),
    from: fc.nat(45),
    to: fc.nat(45),
  })
  .map(({ sizes, lastSize, lastStands, twice, isIndexed, ...range }) => {
    const starts = sizes.map((_, at) => sizes.slice(0, at).reduce((sum, size) => sum + size, 0));
    const closedBytes = sizes.reduce((sum, size) => sum + size, 0);
    const text = Array.from({ length: closedBytes + lastSize }, (_, at) => at % 10).join("");
    const closed = starts.map(
      (start, at) => [closedLogName("stdout", start), text.slice(start, start + (sizes[at] ?? 0))] as const,
    );
    const files = twice ? closed.flatMap((file) => [file, file]) : closed;
    const mark = formatMark({ atMs: 1, generation: 1, stdoutBytes: text.length, stderrBytes: 0 });
    const stored: (readonly [string, string])[] = [...files];
    stored.splice(lastStands, 0, ["stdout", text.slice(closedBytes)]);
    const index = isIndexed ? [[OUTPUT_INDEX, mark] as const] : [];
    const ends = starts.map((start, at) => start + (sizes[at] ?? 0));
    return { text, ends, files: [...index, ...stored], ...range };
  });

/** What pieces hold, which follow one another without a gap. */
function joined(pieces: readonly OutputPiece[], from: number): string {
  const text = pieces.map(({ data }) => Buffer.from(data).toString()).join("");
  let next = from;
  for (const { offset, data } of pieces) {
    expect(offset).toBe(next);
    next += data.length;
  }
  return text;
}

test("a log is read from any byte on to its end, however it was closed and in which order its node stored that", async () => {
  await fc.assert(
    fc.asyncProperty(closedLogs, async ({ text, files, from }) => {
      const output = await storedOutput(storeOf(files), tenancy);
      const pieces = await allOf(output.open("stdout", from));
      expect(joined(pieces, from)).toBe(text.slice(from));
    }),
  );
});

test("of what was closed those files are read that begin between two bytes, from the first of these on", async () => {
  await fc.assert(
    fc.asyncProperty(closedLogs, async ({ text, ends, files, from, to }) => {
      const pieces = await allOf(closedOutput(storeOf(files), { containerId, log: "stdout" }, from, to));
      // The last that begins before it ends where the next one begins.
      const end = to === 0 ? 0 : (ends.find((at) => at >= to) ?? ends.at(-1) ?? 0);
      expect(joined(pieces, from)).toBe(text.slice(from, end));
    }),
  );
});

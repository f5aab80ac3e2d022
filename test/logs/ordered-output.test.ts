import { describe, expect, test } from "@jest/globals";
import type { OutputStream } from "../../src/api/messages.ts";
import { parseMarks } from "../../src/job/output-index.ts";
import { type LineFilter, lastOf, OrderedOutput } from "../../src/logs/ordered-output.ts";

/** Two generations: the first says `a1`, then errs, then says `a2`; the second says `b`. */
const texts = { stdout: "a1\na2\nb\n", stderr: "oops\n" };
const index = "1000 1 0 0\n2000 1 3 5\n3000 1 6 5\n5000 2 6 5\n6000 2 8 5\n";

async function linesOf(filter: LineFilter, marks = index, contents = texts): Promise<string[]> {
  const output = new OrderedOutput(
    {
      marks: parseMarks(marks),
      // Byte by byte: how they arrive must not matter.
      async *open(stream, offset) {
        for (const [at, byte] of Buffer.from(contents[stream]).entries()) {
          if (at >= offset) yield { offset: at, data: new Uint8Array([byte]) };
        }
      },
    },
    filter,
  );
  const found: string[] = [];
  for await (const { stream, line, generation = "–", atMs = "–" } of lastOf(output.lines(), filter.tail)) {
    found.push(`${stream} ${line} ${generation} ${atMs}`);
  }
  return found;
}

describe("the output of a container", () => {
  test("comes in the order of its marks, with generation and time", async () => {
    expect(await linesOf({})).toEqual([
      "stdout a1 1 2000",
      "stderr oops 1 2000",
      "stdout a2 1 3000",
      "stdout b 2 6000",
    ]);
  });

  test("that was written after the last mark is the last generation's, at a time that is not known", async () => {
    const contents = { stdout: `${texts.stdout}more\nunfinished`, stderr: texts.stderr };
    expect((await linesOf({}, index, contents)).slice(-2)).toEqual(["stdout more 2 –", "stdout unfinished 2 –"]);
  });

  test("that a generation left unfinished is its own, not the next one's", async () => {
    const marks = "1000 1 0 0\n2000 1 2 0\n3000 2 2 0\n4000 2 4 0\n";
    expect(await linesOf({}, marks, { stdout: "xxy\n", stderr: "" })).toEqual(["stdout xx 1 3000", "stdout y 2 4000"]);
  });

  test("without marks is stdout, then stderr", async () => {
    expect(await linesOf({}, "")).toEqual(["stdout a1 – –", "stdout a2 – –", "stdout b – –", "stderr oops – –"]);
    expect(await linesOf({ generation: 1 }, "")).toEqual([]);
  });

  test("can be had of one generation, since a time, and as its last lines", async () => {
    expect(await linesOf({ generation: 2 })).toEqual(["stdout b 2 6000"]);
    expect(await linesOf({ generation: 3 })).toEqual([]);
    expect(await linesOf({ sinceMs: 3000 })).toEqual(["stdout a2 1 3000", "stdout b 2 6000"]);
    expect(await linesOf({ tail: 1 })).toEqual(["stdout b 2 6000"]);
    expect(await linesOf({ tail: 2, generation: 1 })).toEqual(["stderr oops 1 2000", "stdout a2 1 3000"]);
  });

  test("can be had as the lines that match, and of one stream; the last ones are the last of those", async () => {
    expect(await linesOf({ pattern: /^[ab]\d?$/, tail: 2 })).toEqual(["stdout a2 1 3000", "stdout b 2 6000"]);
    expect(await linesOf({ pattern: /a/, stream: "stderr" })).toEqual([]);
    expect(await linesOf({ stream: "stderr" })).toEqual(["stderr oops 1 2000"]);
  });

  test("is the same where pieces of it reach over marks, and begin behind some", async () => {
    const pieces = { stdout: ["a1\n", "a2\nb\n"], stderr: ["oops\n"] };
    const output = new OrderedOutput({
      marks: parseMarks(index),
      async *open(stream) {
        let offset = 0;
        for (const piece of pieces[stream]) {
          yield { offset, data: Buffer.from(piece) };
          offset += piece.length;
        }
      },
    });
    expect(output.firstGeneration).toBe(1);
    const found: string[] = [];
    for await (const { line, atMs } of output.lines()) found.push(`${line} ${atMs}`);
    expect(found).toEqual(["a1 2000", "oops 2000", "a2 3000", "b 6000"]);
  });

  test("can be had as matching lines alone, though others come with them", async () => {
    const source = {
      marks: [],
      async *open(stream: OutputStream) {
        yield { offset: 0, data: Buffer.from(texts[stream]) };
      },
    };
    const found: string[] = [];
    for await (const { line } of new OrderedOutput(source, { pattern: /^[o2]|a2/ }).lines()) found.push(line);
    expect(found).toEqual(["a2", "oops"]);
    expect(new OrderedOutput(source).firstGeneration).toBeUndefined();
  });

  test("of which a part is gone goes on after it at its own place, and says how much that was", async () => {
    const output = new OrderedOutput({
      marks: parseMarks(index),
      async *open(stream) {
        const gone = stream === "stdout" ? 3 : 0;
        for (const [at, byte] of Buffer.from(texts[stream]).entries())
          if (at >= gone) yield { offset: at, data: new Uint8Array([byte]) };
      },
    });
    const found: string[] = [];
    for await (const { stream, line, atMs } of output.lines()) found.push(`${stream} ${line} ${atMs}`);
    expect(found).toEqual(["stderr oops 2000", "stdout a2 3000", "stdout b 6000"]);
    expect(output.missingBytes).toBe(3);
  });

  test("says where the last whole line ends, from where a reader who follows goes on", async () => {
    const endsOf = async (printed: (stream: OutputStream) => readonly string[]) => {
      const output = new OrderedOutput({
        marks: parseMarks("1000 1 3 5\n2000 1 8 5\n"),
        async *open(stream) {
          let offset = 0;
          for (const text of printed(stream)) {
            yield { offset, data: Buffer.from(text) };
            offset += text.length;
          }
        },
      });
      for await (const { line } of output.lines({ unfinished: false })) expect(line).not.toMatch(/^unfi/);
      return [output.endOf("stdout"), output.endOf("stderr")];
    };
    expect(await endsOf((stream) => [texts[stream], "unfi", "nished"])).toEqual([8, 5]);
    expect(await endsOf((stream) => [...texts[stream]])).toEqual([8, 5]);
    expect(await endsOf((stream) => (stream === "stdout" ? ["a1\n"] : []))).toEqual([3, 0]);

    const second = new OrderedOutput(
      { marks: parseMarks("1000 1 3 5\n2000 2 3 5\n"), async *open() {} },
      { generation: 2 },
    );
    expect([second.endOf("stdout"), second.endOf("stderr")]).toEqual([3, 5]);
  });

  test("a mark that was cut off is no mark", () => {
    expect(parseMarks("1 1 0 0\n2 1 5")).toEqual([{ atMs: 1, generation: 1, stdoutBytes: 0, stderrBytes: 0 }]);
  });
});

import { Readable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { closedLogName } from "../../src/job/closed-log.ts";
import { OUTPUT_INDEX } from "../../src/job/output-index.ts";
import type { LogStore } from "../../src/logs/log-store.ts";
import type { LineFilter } from "../../src/logs/ordered-output.ts";
import { storedOutput } from "../../src/logs/stored-output.ts";
import { StoredTask } from "../../src/logs/stored-tasks.ts";

const containerId = "container_1795305600000_0001_01_000002";

/** A store whose files are open only as long as they are looked through. */
class OpenWhileRead implements LogStore {
  readonly pending = undefined;
  readonly isAtHand = false;
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
  const output = await storedOutput(new OpenWhileRead(), { task: "worker:0", containerId, logPrefix: "", ran: true });
  expect(output.marks).toEqual([]);
});

test("an index that was closed is read with what was closed of it, wherever its node stored that", async () => {
  const marks = ["1 1 1 0\n", "2 1 2 0\n", "3 1 3 0\n"];
  const files = [
    [closedLogName(OUTPUT_INDEX, 0), marks[0]],
    [closedLogName("stdout", 0), "a"],
    [OUTPUT_INDEX, marks[2]],
    [closedLogName(OUTPUT_INDEX, 8), marks[1]],
    ["stdout", "bc"],
  ] as const;
  const store: LogStore = {
    pending: undefined,
    isAtHand: false,
    async *logs() {
      for (const [name, text = ""] of files)
        yield { containerId, name, lengthBytes: text.length, content: Readable.from([Buffer.from(text)]) };
    },
  };
  const output = await storedOutput(store, { task: "worker:0", containerId, logPrefix: "", ran: true });
  expect(output.marks.map(({ atMs }) => atMs)).toEqual([1, 2, 3]);
});

test("of one stream alone the other is not read", async () => {
  const read: string[] = [];
  const store: LogStore = {
    pending: undefined,
    isAtHand: false,
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
  const tenancy = { task: "worker:0", containerId, logPrefix: "", ran: true };
  const lines = async (filter: LineFilter) => {
    const found: string[] = [];
    for await (const { line } of new StoredTask().lines(store, [tenancy], filter)) found.push(line);
    return found;
  };
  expect(await lines({ stream: "stderr" })).toEqual(["in stderr"]);
  expect(read).toEqual(["stderr"]);
  expect(await lines({})).toEqual(["in stdout", "in stderr"]);
});

import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import { JobLogs, type LogQuery, MOST_WHOLE_BYTES, parseLogQuery } from "../../portal/job-logs.ts";
import { errorCode } from "../../src/hadoop/errors.ts";
import type { TaskStatus } from "../../src/job/status.ts";
import type { StoredLogs } from "../../src/logs/log-store.ts";
import { aJobStatus, role } from "../client/job-status.ts";

type Files = Readonly<Record<string, Readonly<Record<string, string | AsyncIterable<Uint8Array>>>>>;

const master = "container_1_0001_01_000001";
const started = (task: string, container: string) =>
  JSON.stringify({ level: "info", event: "task-started", message: `${task} starts.`, task, container });
const files: Files = {
  [master]: { "am.log": [started("worker:0", "c2"), started("worker:1", "c3"), started("worker:0", "c4")].join("\n") },
  c2: { stdout: "first life\n", stderr: "warned (a.b)\n" },
  c3: { stdout: "one\n" },
  c4: { stdout: "second life\n" },
};

function storeOf(stored: Files): StoredLogs {
  return {
    async *logs(wanted) {
      for (const [containerId, logs] of Object.entries(stored).filter(([id]) => wanted(id)))
        for (const [name, text] of Object.entries(logs)) {
          const content = typeof text === "string" ? Readable.from([Buffer.from(text)]) : text;
          yield { containerId, name, lengthBytes: typeof text === "string" ? text.length : 1, content };
        }
    },
  };
}

const asked: LogQuery = { task: "worker:0", tail: 100, stream: undefined, text: "" };
const here = new AbortController().signal;
const never = () => here;

test("the logs of a job are looked for by its user and its id", async () => {
  const whose: string[] = [];
  const logs = new JobLogs((user, id) => {
    whose.push(user, id);
    return storeOf(files);
  }, never);
  const status = aJobStatus({ applicationId: "application_1_0001", tasks: [] });
  await logs.read("ada", status, asked, here);
  expect(whose).toEqual(["ada", "application_1_0001"]);
});

async function read(query: Partial<LogQuery> = {}, stored: Files = files, tasks: readonly TaskStatus[] = []) {
  const logs = new JobLogs(() => storeOf(stored), never);
  const answer = await logs.read("ada", aJobStatus({ tasks }), { ...asked, ...query }, here);
  return { ...answer, lines: answer.lines.map(({ line }) => line) };
}

describe("the logs of a job in the portal", () => {
  test("are those of all containers that a task had, as the ApplicationMaster's log tells", async () => {
    expect(await read()).toEqual({
      tasks: ["worker:0", "worker:1"],
      lines: ["first life", "warned (a.b)", "second life"],
      isCut: false,
      missingBytes: 0,
    });
  });

  test("are the last lines, of a stream, and those that hold a text, which is no pattern", async () => {
    expect(await read({ tail: 1 })).toMatchObject({ lines: ["second life"], isCut: true });
    expect(await read({ stream: "stderr" })).toMatchObject({ lines: ["warned (a.b)"], isCut: false });
    expect(await read({ text: "(a.b)" })).toMatchObject({ lines: ["warned (a.b)"] });
    expect(await read({ text: "(a?b)" })).toMatchObject({ lines: [] });
  });

  test("of the ApplicationMaster are for people", async () => {
    expect(await read({ task: "am", text: "worker:1" })).toMatchObject({ lines: ["info   worker:1 starts."] });
    expect(await read({ task: "am", text: "info   worker:0" })).toMatchObject({
      lines: ["info   worker:0 starts.", "info   worker:0 starts."],
    });
    expect(await read({ task: "am", text: "task-started" })).toMatchObject({ lines: [] });
    const foreign = { [master]: { "am.log": 'java.lang.Error: worker:1\n{"message": "worker:1"}\n' } };
    expect((await read({ task: "am", text: "worker:1" }, foreign)).lines).toEqual([
      "java.lang.Error: worker:1",
      '{"message": "worker:1"}',
    ]);
  });

  test("of the ApplicationMaster have the times of its lines", async () => {
    const said = { level: "warn", message: "A node is lost.", time: "1970-01-01T00:00:05.000Z", generation: 2 };
    const stored = { [master]: { "am.log": JSON.stringify(said) } };
    const logs = new JobLogs(() => storeOf(stored), never);
    const { lines } = await logs.read("ada", aJobStatus({}), { ...asked, task: "am" }, here);
    expect(lines).toEqual([{ stream: "stdout", line: "warn   A node is lost.", atMs: 5_000, generation: 2 }]);
  });

  test("are none yet of a task that the job's roles have, and that has had no container", async () => {
    const logs = new JobLogs(() => storeOf(files), never);
    const roles = [role("ps", 1), role("worker", 8)];
    const read = (task: string) => logs.read("ada", aJobStatus({ tasks: [], roles }), { ...asked, task }, here);
    expect(await read("worker:7")).toMatchObject({ lines: [], tasks: ["worker:0", "worker:1"] });
    await expect(read("worker:8")).rejects.toMatchObject({ code: "NO_SUCH_TASK" });
  });

  test("of a job of TonY's, or without its ApplicationMaster's log, are those of each task's last container", async () => {
    const { [master]: _am, ...others } = files;
    const task = { task: "worker:0", state: "succeeded", restarts: 0, containerId: "c4" } as const;
    expect(await read({}, others, [task])).toMatchObject({ tasks: ["worker:0"], lines: ["second life"] });
  });

  test("that are not there are told of with the settings that matter", async () => {
    await expect(read({}, {})).rejects.toMatchObject({
      code: "NO_LOGS",
      message: expect.stringContaining("yarn.log-aggregation.retain-seconds"),
    });
    const noMatch = await read({ text: "nobody printed that" });
    expect(noMatch).toMatchObject({ tasks: ["worker:0", "worker:1"], lines: [], isCut: false });
  });

  test("are none of a task that has not printed anything, and are refused of one that there is not", async () => {
    const quiet = { task: "worker:7", state: "waiting", restarts: 0 } as const;
    expect(await read({ task: "worker:7" }, files, [quiet])).toMatchObject({
      tasks: ["worker:0", "worker:1"],
      lines: [],
    });
    await expect(read({ task: "worker:7" })).rejects.toMatchObject({ code: "NO_SUCH_TASK" });
    await expect(read({ task: "worker:2" })).rejects.toMatchObject({ code: "NO_SUCH_TASK" });
    await expect(read({ task: "evaluator:0" })).rejects.toMatchObject({ code: "NO_SUCH_TASK" });
  });

  test("take no more memory than an answer may have, however long their lines are", async () => {
    const long = Array.from({ length: 200 }, () => "x".repeat(16_000)).join("\n");
    const { lines, isCut } = await read({}, { ...files, c4: { stdout: long } });
    expect(isCut).toBe(true);
    expect(lines.join("").length).toBeLessThanOrEqual(2 ** 20);
    const short = await read({ tail: 2 }, { ...files, c4: { stdout: `${long}\na\nb\n` } });
    expect(short.lines).toEqual(["a", "b"]);
    const one = await read({ tail: 1 }, { ...files, c4: { stdout: "x".repeat(3 * 2 ** 20) } });
    expect(one.lines).toHaveLength(1);
  });

  test("are not read where what is read whole has no end", async () => {
    async function* endless() {
      for (let bytes = 0; bytes <= 2 * MOST_WHOLE_BYTES; bytes += 2 ** 20) yield Buffer.alloc(2 ** 20);
    }
    await expect(read({}, { [master]: { "am.log": endless() } })).rejects.toMatchObject({ code: "LOG_TOO_LONG" });
  });

  test("are read to their end, however much a program has printed", async () => {
    async function* long() {
      const piece = Buffer.from(`${"x".repeat(2 ** 20 - 1)}\n`);
      for (let bytes = 0; bytes <= MOST_WHOLE_BYTES; bytes += piece.length) yield piece;
      yield Buffer.from("the end\n");
    }
    expect(await read({ tail: 1 }, { ...files, c4: { stdout: long() } })).toMatchObject({ lines: ["the end"] });
  });

  test("are read for a few at a time, no longer than a minute, and not for who has gone", async () => {
    const gone = new AbortController();
    const late = new AbortController();
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    async function* held() {
      await gate;
      yield Buffer.from("line\n");
    }
    const limits: number[] = [];
    const stored = () => storeOf({ [master]: { "am.log": held() } });
    const logs = new JobLogs(stored, (ms) => {
      limits.push(ms);
      return late.signal;
    });
    const one = logs.read("ada", aJobStatus({}), asked, gone.signal);
    const other = logs.read("ada", aJobStatus({}), asked, here);
    await expect(logs.read("ada", aJobStatus({}), asked, here)).rejects.toMatchObject({ code: "BUSY" });
    gone.abort();
    late.abort();
    open();
    const { applicationId } = aJobStatus({});
    await expect(one).rejects.toMatchObject({
      code: "LOG_TOO_LONG",
      message: `The log cannot be read to its end within 60 s: tony-ts logs ${applicationId} reads it`,
    });
    await expect(other).rejects.toMatchObject({ code: "LOG_TOO_LONG" });
    expect(limits).toEqual([60_000, 60_000]);
    const next = [1, 2, 3].map(() => logs.read("ada", aJobStatus({}), asked, here).catch(errorCode));
    expect(await Promise.all(next)).toEqual(["LOG_TOO_LONG", "LOG_TOO_LONG", "BUSY"]);
  });
});

test("what is asked of a log is checked", () => {
  const parse = (query: string) => parseLogQuery(new URLSearchParams(query));
  expect(parse("task=worker:0")).toEqual({ task: "worker:0", tail: 200, stream: undefined, text: "" });
  expect(parse("task=am&tail=999999&stream=stderr&text=a%20b")).toEqual({
    task: "am",
    tail: 2_000,
    stream: "stderr",
    text: "a b",
  });
  for (const wrong of ["", "task=../x", "task=am&tail=0", "task=am&tail=x", "task=am&stream=both", "task=am&x=1"])
    expect(typeof parse(wrong)).toBe("string");
  expect(parse(`task=am&text=${"x".repeat(200)}`)).toMatchObject({ tail: 200 });
  expect(parse(`task=am&text=${"x".repeat(201)}`)).toContain("at most 200");
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { feedShape } from "../../am/core/feeds/feed-file.ts";
import { readReport } from "../../executor/api/report.ts";
import { readSplit } from "../../executor/feeds/read-split.ts";
import { JobLogs, parseLogQuery } from "../../portal/job-logs.ts";
import { parseJobQuery } from "../../portal/job-query.ts";
import { readRunningMetrics } from "../../portal/running-metrics.ts";
import { readStoredJob, readStoredSeries } from "../../portal/stored-job.ts";
import { crc32c, masked } from "../../src/crc32c.ts";
import { LocalFileSystem } from "../../src/hadoop/hdfs/local.ts";
import { readContainer } from "../../src/history/avro/read.ts";
import { containerMagic } from "../../src/history/avro/schema.ts";
import { encodeHistoryRecord } from "../../src/history/records.ts";
import { cursorProblem, cursorShape } from "../../src/job/feeds/cursor.ts";
import type { Cut } from "../../src/job/feeds/cut.ts";
import { OUTPUT_INDEX } from "../../src/job/output-index.ts";
import { parseParameter } from "../../src/job/search/parse-parameter.ts";
import { nextPromotion, pausingOf } from "../../src/job/search/promotion.ts";
import { propose } from "../../src/job/search/propose.ts";
import { stopOf } from "../../src/job/search/stop.ts";
import { readTrialLine, trialOfLine } from "../../src/job/search/trial-line.ts";
import type { Search } from "../../src/job/search/trials.ts";
import { leadingProcesses, readProcessStacks, taskPlaceOf } from "../../src/job/stacks.ts";
import { readTransaction } from "../../src/job/store/transaction-json.ts";
import { parseNamesList } from "../../src/job/stored/carried-lists.ts";
import { parseLiveRequest } from "../../src/page/live-request.ts";
import { aJobStatus, allSucceeded } from "../client/job-status.ts";
import { searchOf } from "../job/search/support.ts";
import { aJobSpec } from "../support/job-spec.ts";
import { type Decoder, utf8 } from "./fuzz.ts";

const fileSystem = new LocalFileSystem();

function text(name: string, decode: (text: string) => unknown, ...seeds: readonly string[]): Decoder {
  const refusals = ["SyntaxError", "ShapeError", "RangeError"];
  return { name, seeds: seeds.map((seed) => Buffer.from(seed)), decode: (bytes) => decode(utf8(bytes)), refusals };
}

/** What reads a folder that has one file. */
function inFolder(file: string, read: (folder: string) => Promise<unknown>): Decoder["decode"] {
  return async (bytes) => {
    const folder = mkdtempSync(path.join(tmpdir(), "tony-fuzz-"));
    try {
      writeFileSync(path.join(folder, file), bytes);
      return await read(folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
}

/** A split in the middle of the file. */
function splitOf(file: string, cut: Cut): Decoder["decode"] {
  return inFolder(file, async (folder) => {
    const name = path.join(folder, file);
    const { lengthBytes: length, modificationTimeMs: modifiedMs } = await fileSystem.stat(name);
    const split = {
      file: { path: name, length, modifiedMs },
      start: Math.floor(length / 3),
      end: Math.floor(length / 2),
    };
    for await (const _chunk of readSplit({ fileSystem, path: name }, split, cut));
  });
}

/** A container file whose schema is the first line, as a reader of files of others meets it. */
function container(bytes: Uint8Array): Buffer {
  const end = Buffer.from(bytes).indexOf("\n");
  const [schema, block] = [Buffer.from(bytes).subarray(0, Math.max(0, end)), bytes.subarray(end + 1)];
  const sync = Buffer.alloc(16, 1);
  const sized = (part: Uint8Array) => Buffer.concat([long(part.length), part]);
  const metadata = [long(1), sized(Buffer.from("avro.schema")), sized(schema), long(0)];
  return Buffer.concat([containerMagic, ...metadata, sync, long(1), sized(block), sync]);
}

/** In zigzag, seven bits in each byte. */
function long(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value * 2;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** A TFRecord file of these records. */
function records(...contents: readonly string[]): Buffer {
  const sum = (bytes: Uint8Array) => {
    const four = Buffer.alloc(4);
    four.writeUInt32LE(masked(crc32c(bytes)));
    return four;
  };
  return Buffer.concat(
    contents.flatMap((content) => {
      const [length, data] = [Buffer.alloc(8), Buffer.from(content)];
      length.writeBigUInt64LE(BigInt(data.length));
      return [length, sum(length), data, sum(data)];
    }),
  );
}

/** What a search makes of the trials of an earlier one: what it tries next, what it stops, and which of those that pause goes on. */
function goesOn(rules: Partial<Search>): (text: string) => void {
  const search = { ...searchOf({ lr: "float 1e-5 1 log", layers: "int 1 9", opt: "choice sgd adam" }), ...rules };
  return (text) => {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    const trials = lines.map((line) => trialOfLine(readTrialLine(line)));
    propose(search, trials);
    for (const trial of trials) stopOf(search, trial, trials);
    const pausing = pausingOf(search, trials.length + 10);
    if (pausing !== undefined) nextPromotion(pausing, trials);
  };
}

const triedLines = [
  '{"number":0,"params":{"lr":0.01,"layers":2,"opt":"sgd"},"state":"completed","value":0.5,"step":9,"reports":[[1,0.9],[3,0.7],[9,0.5]]}',
  '{"number":1,"params":{"lr":0.1,"layers":3,"opt":"adam"},"state":"stopped","value":0.8,"step":3,"reports":[[1,0.9],[3,0.8]]}',
  '{"number":2,"params":{"lr":0.3,"layers":9,"opt":"adam"},"state":"paused","value":0.6,"step":1,"reports":[[1,0.6]],"checkpoint":"/c"}',
  '{"number":3,"params":{"lr":1,"layers":1,"opt":"sgd"},"state":"failed","error":"exit 1"}',
  '{"number":4,"params":{"lr":0.5,"layers":1,"opt":"sgd"},"value":"NaN","startedAtMs":1,"endedAtMs":2}',
].join("\n");

/** What the portal shows of a job whose nodes stored that in each of its logs. */
async function shownLog(bytes: Uint8Array): Promise<void> {
  const logs = ["am.log", "am.log.0", OUTPUT_INDEX, "stdout", "stdout.7", "stderr"];
  const containers = ["container_1_0001_01_000001", "container_1_0001_01_000002"];
  const store = {
    async *logs(wanted: (containerId: string) => boolean) {
      for (const containerId of containers.filter(wanted))
        for (const name of logs)
          yield { containerId, name, lengthBytes: bytes.length, content: Readable.from([bytes]) };
    },
  };
  for (const task of ["am", "worker:0"]) {
    const query = { task, tail: 10, stream: undefined, text: "e" };
    await new JobLogs(() => store).read("ada", aJobStatus(), query, new AbortController().signal);
  }
}

const header = {
  record: "header",
  historyVersion: 3,
  attempt: 1,
  number: 1,
  atMs: 1,
  applicationId: "application_1_0001",
  user: "ada",
  build: "tony-ts",
  spec: aJobSpec(),
} as const;
const end = {
  record: "end",
  attempt: 1,
  number: 2,
  atMs: 2,
  outcome: { ...allSucceeded, endedAtMs: 2 },
  status: aJobStatus(),
} as const;
const lines = encodeHistoryRecord(header) + encodeHistoryRecord(end);
const feed = { plan: "p", splits: 10, epochs: 2 };
const cursor = '{"plan":"p","epoch":1,"used":[0,3],"partly":{"4":7}}';

/** Readers of a history that the portal shows, of feeds and searches, and of what pages and programs ask. */
export const newerDecoders: readonly Decoder[] = [
  text(
    "queries of a job's page",
    (query) => parseLiveRequest(new URLSearchParams(query)),
    "since=3&from=0&count=50&sort=rate&order=down&filter=worker&task=worker:0",
  ),
  text(
    "queries of the portal",
    (query) => parseJobQuery(new URLSearchParams(query)),
    "user=ada&state=failed&since=1&until=2&from=0&count=9&name=b%20c",
  ),
  text(
    "what running jobs say for Prometheus",
    (said) => readRunningMetrics(JSON.parse(said), ""),
    '{"gauges":[{"name":"tony.tasks","points":[[{"role":"worker","state":"running"},2]]}],"tasks":[{"task":"worker:0","step":3}]}',
  ),
  {
    name: "jobs of the portal",
    seeds: [Buffer.from(lines)],
    decode: inFolder("events.jsonl.inprogress", async (folder) => {
      await readStoredJob(fileSystem, folder, "ends");
      await readStoredJob(fileSystem, folder, "all");
    }),
  },
  {
    name: "series of the portal's jobs",
    seeds: [Buffer.from('{"seriesVersion":1,"applicationId":"a","attempt":1,"fromMs":0,"spanMs":5000}\n')],
    decode: (bytes) => inFolder("series.jsonl.gz", (folder) => readStoredSeries(fileSystem, folder))(gzipSync(bytes)),
  },
  {
    name: "Avro files by their own schemas",
    seeds: [
      '"string"\n\u0004ab',
      '{"type":"array","items":{"type":"array","items":"null"}}\n\u0006\u0006\u0000\u0006\u0000\u0006\u0000\u0000',
      '{"type":"record","name":"R","fields":[{"name":"a","type":["null","R"]},{"name":"b","type":"R"}]}\n\u0002',
      '{"type":"enum","name":"E","symbols":["A"]}\n\u0000',
    ].map((seed) => Buffer.from(seed)),
    decode: (bytes) => readContainer(container(bytes)),
    // Of a schema that is none: who reads a history takes any error for an unreadable one.
    refusals: ["SyntaxError", "TypeError", "RangeError"],
  },
  {
    name: "lines of a feed",
    seeds: [Buffer.from("one\ntwo\nthree\nfour\n")],
    decode: splitOf("data.txt", { format: "lines", splitBytes: 4 }),
  },
  {
    name: "packed lines of a feed",
    seeds: [gzipSync("one\ntwo\nthree\nfour\n")],
    decode: splitOf("data.gz", { format: "lines", splitBytes: 4 }),
    // Of zlib.
    refusals: ["Error"],
  },
  {
    name: "records of a feed",
    seeds: [records("one", "", "three".repeat(30))],
    decode: splitOf("data.tfrecord", { format: "tfrecord" }),
  },
  {
    name: "packed records of a feed",
    seeds: [gzipSync(records("one", "two"))],
    decode: splitOf("data.tfrecord.gz", { format: "tfrecord" }),
    // Of zlib.
    refusals: ["Error"],
  },
  {
    name: "rows of one length of a feed",
    seeds: [Buffer.from("aaabbbcccddd")],
    decode: splitOf("data.bin", { format: "fixed", splitBytes: 4, recordBytes: 3 }),
  },
  text("cursors of a feed", (json) => cursorProblem(cursorShape(JSON.parse(json), ""), feed, feed.splits), cursor),
  text(
    "journals of a feed",
    (json) => feedShape(JSON.parse(json), ""),
    `{"epoch":0,"used":[0,1],"poisoned":[1,2],"failures":{"1":"it is damaged"},"partly":{},"leases":{"2":{"number":3,"task":"worker:0"}},"lastLease":3,"handedOut":3,"attempts":{"1":1},"generation":1,"origin":${cursor},"readers":{"worker:0":{"generation":1,"lastUsed":2}}}`,
  ),
  text(
    "trials that were made elsewhere",
    (line) => trialOfLine(readTrialLine(line)),
    '{"params":{"lr":0.01},"state":"stopped","value":NaN,"reports":[[1,0.5],[2,Infinity]]}',
  ),
  text(
    "parameters of a search",
    parseParameter,
    "float 1e-5 1e-1 log when opt=sgd,adam",
    'choice "a b" c',
    "int 1 9 step 2",
  ),
  text("trials that a search by TPE goes on with", goesOn({ algorithm: "tpe", stop: "median" }), triedLines),
  text(
    "trials that a search by evolution goes on with",
    goesOn({ algorithm: "evolution", stop: "asha", budget: { min: 1, max: 9, factor: 3 } }),
    triedLines,
  ),
  text(
    "trials that a search by hyperband goes on with",
    goesOn({ stop: "hyperband", budget: { min: 1, max: 9, factor: 3 } }),
    triedLines,
  ),
  text(
    "queries of the portal's logs",
    (query) => parseLogQuery(new URLSearchParams(query)),
    "task=worker:0&tail=50&stream=stderr&text=loss",
  ),
  {
    name: "logs that the portal shows",
    seeds: [
      '{"level":"info","event":"task-started","task":"worker:0","container":"container_1_0001_01_000002","message":"e"}\n',
      "1 2 3 4\n5 6 7 8\n",
      "one\r\ntwo\rthree\n",
    ].map((seed) => Buffer.from(seed)),
    decode: shownLog,
  },
  text(
    "stacks of a task's processes",
    (json) => {
      const processes = readProcessStacks(JSON.parse(json), "");
      taskPlaceOf(processes);
      return leadingProcesses(processes);
    },
    JSON.stringify([
      {
        pid: 7,
        parent: 1,
        program: "python3.11",
        stacks: 'Current thread 0x00007f (most recent call first):\n  File "/a/train.py", line 3 in step\n',
      },
    ]),
  ),
  text(
    "lists of names that were changed",
    parseNamesList,
    '{"namesVersion":1,"renamed":[{"path":"a","sizeBytes":1,"stored":"b"}],"leftOut":[{"path":"c","why":"x","isLoss":true}]}',
  ),
  text("reports to a task's API", readReport, '{"step":3,"checkpoint":"hdfs://ns/c","metrics":{"loss":0.5,"acc":NaN}}'),
  text(
    "transactions to a task's API",
    readTransaction,
    '{"conditions":[{"key":"a","of":"exists"}],"success":[{"type":"put","key":"a","value":"x"}],"failure":[{"type":"get","key":"a"}]}',
  ),
];

import { key } from "./key.ts";
import { boolean, duration, integer, list, memory, oneOf, text } from "./types.ts";

/** What is read and handed out to tasks, split by split; all keys are ours. `build-feeds.ts` combines them. */
export const feedKeys = {
  "tony.feed.{feed}.input": key({
    type: list,
    doc: "What a feed reads: absolute paths or URLs of files and folders, separated by commas; * ? [abc] and {a,b} in a part of a path match several. A folder stands for the files directly in it, except names that begin with . or _. See docs/guide/feeds.md.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.relist": key({
    type: duration("ms", { minMs: 1_000 }),
    doc: "How often growing input is listed again, so that new files are handed out, too. A file is taken once two listings show the same length and time and nobody is writing it. Not set: only the files found at submission are read.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.until": key({
    type: text,
    doc: "With relist: once a file with this name exists no more files are taken, and the feed ends when all are used. Not set: it has no end.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.format": key({
    type: oneOf("lines", "fixed", "file", "tfrecord", "avro", "parquet", "bytes"),
    default: "lines",
    doc: "What one row is. lines: a line; tfrecord: a record (the files of both may be .gz); fixed: record-size bytes; file: a whole file; avro and parquet: a dict. bytes has no rows: the program reads the files itself.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.record-size": key({
    type: integer({ min: 1 }),
    doc: "For format fixed: how many bytes a row has.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.output": key({
    type: text,
    doc: "A folder that does not exist yet, for the programs' results: a file for each split.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.split-size": key({
    type: memory,
    default: "64m",
    doc: "How much a task is given at a time.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.epochs": key({
    type: integer(),
    default: "1",
    doc: "How often everything is read; 0: without end. boundary says when the next epoch begins.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.boundary": key({
    type: oneOf("barrier", "overlap", "infinite"),
    default: "barrier",
    doc: "When splits of the next epoch are handed out. barrier: when all splits of this epoch are used; overlap: while its last splits are still being read; infinite: at any time, without end: no task waits for the splits of others, and the program decides when it stops.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.shuffle": key({
    type: integer(),
    doc: "Seed that shuffles the splits of each epoch: their order depends only on it and the epoch. Not set: the order of the files.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.window": key({
    type: integer({ min: 1, max: 64 }),
    default: "2",
    doc: "How many splits a task has at a time.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.timeout": key({
    type: duration("ms", { minMs: 1_000 }),
    default: "10m",
    doc: "A task that reads nothing for this long loses its splits to others.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.uneven": key({
    type: oneOf("drop", "pad", "stop-together"),
    doc: "Gives all tasks the same number of batches in each epoch, for programs that wait for each other in each step: drop leaves out the surplus of tasks that have more; pad gives rows again to tasks that have fewer; stop-together ends the feed for all when one has no more. Not set: tasks may get different numbers.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.locality": key({
    type: boolean,
    default: "true",
    doc: "A task first gets one of the next splits whose bytes are on its machine; false: all splits are handed out strictly in order.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.roles": key({
    type: list,
    doc: "Roles whose tasks read the feed; others are refused. Tasks of all these roles wait for each other in feed.state(), and make the same number of steps with uneven. Not set: any role may read, and its tasks wait only for each other.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.max-attempts": key({
    type: integer({ min: 1 }),
    default: "3",
    doc: "A split is skipped once it could not be read, or its reader failed, this many times; the ApplicationMaster's log names it.",
    support: "works",
    ours: true,
  }),
} as const;

import { key } from "./key.ts";
import { boolean, duration, integer, list, memory, oneOf, text } from "./types.ts";

/** What is read and handed out to tasks, split by split; all ours. `build-feeds.ts` puts them together. */
export const feedKeys = {
  "tony.feed.{feed}.input": key({
    type: list,
    doc: "What a feed reads: absolute paths or URLs of files and folders, with commas between them; * ? [abc] and {a,b} in a part of a path stand for several. Of a folder the files directly in it, but for names with . or _ first. See docs/guide/feeds.md.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.relist": key({
    type: duration("ms", { minMs: 1_000 }),
    doc: "Input that grows: it is looked up again so often, and new files are handed out, too. A file counts once it has the same length and time twice and nobody writes it. Not set: the files of the submission are all.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.until": key({
    type: text,
    doc: "With relist: once there is a file of that name no more files come, and the feed ends when all are used. Not set: it has no end.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.format": key({
    type: oneOf("lines", "fixed", "file", "tfrecord", "avro", "parquet", "bytes"),
    default: "lines",
    doc: "What a row is: lines: a line, and tfrecord: a record, of files that may be .gz; fixed: record-size bytes; file: a whole file; avro and parquet: a dict. bytes has no rows: the program reads the files itself.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.record-size": key({
    type: integer({ min: 1 }),
    doc: "Of format fixed: how many bytes a row has.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.output": key({
    type: text,
    doc: "A folder that does not exist yet, for what programs make of the rows: a file for each split.",
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
    doc: "How often everything is read; 0: without end. When the next time begins boundary says.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.boundary": key({
    type: oneOf("barrier", "overlap", "infinite"),
    default: "barrier",
    doc: "When splits of the next epoch are handed out: barrier, when all of this one are used; overlap, while the last ones of this one are still read; infinite, at any time and without end: no task waits for what others have, and the program decides when it stops.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.shuffle": key({
    type: integer(),
    doc: "Shuffles the splits of each epoch, depending only on this number and the epoch; not set: they keep the order of the files.",
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
    doc: "A task that reads nothing for so long loses its splits to others.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.uneven": key({
    type: oneOf("drop", "pad", "stop-together"),
    doc: "Gives all tasks the same number of batches in each epoch, for programs that wait for each other in each step: drop leaves the rest of those out that have more; pad gives rows again to those that have fewer; stop-together ends the feed for all when one has no more. Not set: each task has what is there for it.",
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
    doc: "Roles whose tasks read the feed; others are refused. Tasks of all of them wait for each other at a state, and make the same number of steps with uneven. Not set: any role may, and each waits for its own tasks.",
    support: "works",
    ours: true,
  }),
  "tony.feed.{feed}.max-attempts": key({
    type: integer({ min: 1 }),
    default: "3",
    doc: "A split that cannot be read, or whose reader fails, so many times is left out from then on; the ApplicationMaster's log says which.",
    support: "works",
    ours: true,
  }),
} as const;

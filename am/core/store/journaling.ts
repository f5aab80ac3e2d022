import type { Change } from "../../../src/job/store/watched.ts";
import { apply, compact } from "./changes.ts";
import { emptyStore } from "./empty-store.ts";
import type { StoreState } from "./records.ts";
import type { StoreFile } from "./store-file.ts";
import { placeBehind } from "./watching.ts";

/** A file with the attempt that wrote it. */
export interface WrittenFile {
  readonly attempt: number;
  readonly file: StoreFile;
}

/** Changes that nobody waits for are written this much later, together with those that come until then. */
const LAZY_MS = 1_000;
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 15_000;
/** A whole file is written when a later attempt would have more segments to read than this. */
const MOST_SEGMENTS = 200;
const LEAST_SEGMENT_BYTES = 256 << 10;

export interface StoreWrite {
  readonly sequence: number;
  /** JSON of a StoreFile. */
  readonly content: string;
  /** The files before it are of no use once it is written. */
  readonly isWhole: boolean;
}

/** Requests a write of what is not safe yet. @param urgent somebody waits for it */
export function want({ journal, revision }: StoreState, urgent: boolean, nowMs: number): void {
  if ((journal.writing ?? journal.written) >= revision) return;
  journal.urgent ||= urgent;
  journal.dueMs ??= nowMs + LAZY_MS;
}

/** What is to be written now; one write is under way at a time. */
export function nextWrite(state: StoreState, nowMs: number): StoreWrite | undefined {
  const { journal, revision } = state;
  if (journal.writing !== undefined || journal.written >= revision) return undefined;
  const { dueMs = nowMs, urgent, failures } = journal;
  if (dueMs > nowMs && !(urgent && failures === 0)) return undefined;
  const isWhole = needsWhole(state);
  const content = JSON.stringify(isWhole ? whole(state) : changesSince(state, journal.written));
  journal.sequence += 1;
  journal.writing = revision;
  journal.writingBytes = content.length;
  journal.urgent = false;
  delete journal.dueMs;
  if (isWhole) Object.assign(journal, { segments: 0, segmentsBytes: 0 });
  return { sequence: journal.sequence, content, isWhole };
}

function needsWhole({ journal, compacted, bytes }: StoreState): boolean {
  if (compacted > journal.written || journal.segments >= MOST_SEGMENTS) return true;
  return journal.segmentsBytes > Math.max(LEAST_SEGMENT_BYTES, 2 * bytes);
}

function whole({ revision, entries, epochs }: StoreState): StoreFile {
  return { type: "whole", revision, entries, epochs };
}

function changesSince({ changes }: StoreState, revision: number): StoreFile {
  return { type: "changes", changes: changes.slice(placeBehind(changes, revision)) };
}

export function written({ journal }: StoreState): void {
  journal.written = journal.writing ?? journal.written;
  journal.segments += 1;
  journal.segmentsBytes += journal.writingBytes;
  journal.failures = 0;
  delete journal.writing;
}

/** The pause before a journal is written again, after this many failures in a row. */
export function retryAfterMs(failures: number): number {
  return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));
}

export function writeFailed({ journal }: StoreState, nowMs: number): void {
  journal.failures += 1;
  journal.dueMs = nowMs + retryAfterMs(journal.failures);
  delete journal.writing;
}

/** The store as the files of earlier attempts have it, for this attempt to go on from. The files come in the order of writing. */
export function recoveredStore(attempt: number, files: readonly WrittenFile[]): StoreState {
  const state = emptyStore(attempt);
  let wroteLast = 1;
  for (const { attempt: writer, file } of files) {
    noteEpoch(state, wroteLast, writer);
    wroteLast = writer;
    if (file.type === "whole") replace(state, file);
    else takeChanges(state, file.changes);
    state.journal.segments += 1;
  }
  noteEpoch(state, wroteLast, attempt);
  state.journal.written = state.revision;
  return state;
}

/** Files may share revisions, each of which is complete in each file. */
function takeChanges(state: StoreState, changes: readonly Change[]): void {
  const known = state.revision;
  for (const change of changes) if (change.revision > known) apply(state, change);
  compact(state);
}

function noteEpoch({ epochs, revision }: StoreState, before: number, now: number): void {
  if (now > before) epochs.push({ attempt: now - 1, lastRevision: revision });
}

function replace(state: StoreState, { revision, entries, epochs }: Extract<StoreFile, { type: "whole" }>): void {
  const { journal } = state;
  Object.assign(state, emptyStore(journal.attempt), { journal, epochs: [...epochs] });
  for (const entry of entries) apply(state, { type: "put", revision, key: entry.key, entry });
  Object.assign(state, { revision, changes: [], changesBytes: 0, compacted: revision });
}

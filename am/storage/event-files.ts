import { crc32c, masked } from "../../src/crc32c.ts";
import type { Parameter, ParameterValue } from "../../src/job/search/space.ts";
import type { Search, TrialLine, TrialState } from "../../src/job/search/trials.ts";

/**
 * What TensorBoard's HParams page shows of a search: an event file for each trial, and one for the search itself. Their messages are those
 * of tensorboard/compat/proto/event.proto, summary.proto and tensor.proto, and of tensorboard/plugins/hparams/{plugin_data,api}.proto,
 * written field by field; a file is a sequence of TFRecords (executor/feeds/tfrecord.ts reads such files).
 */

/** The number of trials for whose files the end of a job waits at most. */
const MOST_TRIALS = 1_000;

const PLUGIN = "hparams";
const STATUS: Readonly<Partial<Record<TrialState, number>>> = { completed: 1, stopped: 1, paused: 1, failed: 2 };
/** hparams.DataType. */
const TEXT = 1;
const NUMBER = 3;

/**
 * The files by their names below the folder of the search.
 * @param trials as in `trials.jsonl`
 */
export function eventFiles(
  search: Search,
  trials: readonly TrialLine[],
  startedAtMs: number,
): Record<string, Uint8Array> {
  const experiment = bytes(2, join([double(3, startedAtMs / 1000), ...search.space.map(hparam), metric(search)]));
  const files: Record<string, Uint8Array> = {
    [nameOf("", startedAtMs)]: fileOf(startedAtMs, [plugin("experiment", experiment, startedAtMs)]),
  };
  for (const [index, trial] of trials.slice(0, MOST_TRIALS).entries()) {
    const { number = index, startedAtMs: begunAtMs = startedAtMs } = trial;
    files[nameOf(`trial-${number}/`, begunAtMs)] = fileOf(begunAtMs, sessionOf(search, trial, number, begunAtMs));
  }
  return files;
}

function nameOf(folder: string, atMs: number): string {
  return `tensorboard/${folder}events.out.tfevents.${Math.floor(atMs / 1000)}.tony-ts`;
}

function sessionOf({ space, metric: tag }: Search, trial: TrialLine, number: number, atMs: number): Buffer[] {
  const {
    params,
    state = "running",
    endedAtMs,
    value,
    step = 0,
    reports = value === undefined ? [] : [[step, value]],
  } = trial;
  const own = space.flatMap((parameter) => {
    const given = params[parameter.name];
    return given === undefined ? [] : bytes(1, join([text(1, parameter.name), bytes(2, protoValue(parameter, given))]));
  });
  const start = bytes(3, join([...own, text(4, `trial-${number}`), double(5, atMs / 1000)]));
  const lastMs = endedAtMs ?? atMs;
  const scalars = reports.map(([at, reported]) => scalar(tag, Number(at), Number(reported ?? Number.NaN), lastMs));
  const end = bytes(4, join([integer(1, STATUS[state] ?? 0), double(2, lastMs / 1000)]));
  return [plugin("session_start_info", start, atMs), ...scalars, plugin("session_end_info", end, lastMs)];
}

/** hparams.HParamInfo */
function hparam(parameter: Parameter): Buffer {
  const { name, domain } = parameter;
  const among =
    domain.kind === "choice"
      ? bytes(5, join(domain.choices.map((choice) => bytes(1, protoValue(parameter, choice)))))
      : bytes(6, join([double(1, domain.low), double(2, domain.high)]));
  return bytes(4, join([text(1, name), integer(4, isNumber(parameter) ? NUMBER : TEXT), among]));
}

/** hparams.MetricInfo */
function metric(search: Search): Buffer {
  return bytes(5, bytes(1, text(2, search.metric)));
}

/** google.protobuf.Value: all values of a parameter are of one kind. */
function protoValue(parameter: Parameter, value: ParameterValue): Buffer {
  return isNumber(parameter) ? double(2, Number(value)) : text(3, String(value));
}

function isNumber({ domain }: Parameter): boolean {
  return domain.kind !== "choice" || domain.choices.every((choice) => typeof choice === "number");
}

/** A summary for the plugin alone; its tensor is one zero, as the plugin itself writes it. */
function plugin(what: string, data: Buffer, atMs: number): Buffer {
  const metadata = bytes(1, join([text(1, PLUGIN), bytes(2, data)]));
  const zero = join([integer(1, 1), bytes(2, bytes(2, integer(1, 1))), bytes(5, Buffer.alloc(4))]);
  return event(atMs, 0, join([text(1, `_hparams_/${what}`), bytes(8, zero), bytes(9, metadata)]));
}

function scalar(tag: string, step: number, value: number, atMs: number): Buffer {
  const simple = Buffer.alloc(4);
  simple.writeFloatLE(value);
  return event(atMs, step, join([text(1, tag), key(2, 5), simple]));
}

function event(atMs: number, step: number, value: Buffer): Buffer {
  return join([double(1, atMs / 1000), integer(2, step), bytes(5, bytes(1, value))]);
}

function fileOf(atMs: number, events: readonly Buffer[]): Buffer {
  const version = join([double(1, atMs / 1000), text(3, "brain.Event:2")]);
  return join([version, ...events].map(record));
}

/** Length, its checksum, data, their checksum. */
function record(data: Buffer): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(data.length));
  return join([length, checksum(length), data, checksum(data)]);
}

function checksum(of: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(masked(crc32c(of)));
  return sum;
}

function text(field: number, value: string): Buffer {
  return bytes(field, Buffer.from(value));
}

function bytes(field: number, value: Buffer): Buffer {
  return join([key(field, 2), varint(value.length), value]);
}

function double(field: number, value: number): Buffer {
  const eight = Buffer.alloc(8);
  eight.writeDoubleLE(value);
  return join([key(field, 1), eight]);
}

function integer(field: number, value: number): Buffer {
  return join([key(field, 0), varint(value)]);
}

function key(field: number, wireType: number): Buffer {
  return varint(field * 8 + wireType);
}

/** Encodes a non-negative integer; steps beyond 2⁵³ have already lost precision. */
function varint(value: number): Buffer {
  const digits: number[] = [];
  let left = Math.max(0, Math.floor(value));
  for (; left >= 128; left = Math.floor(left / 128)) digits.push((left % 128) + 128);
  return Buffer.from([...digits, left]);
}

function join(parts: readonly Buffer[]): Buffer {
  return Buffer.concat(parts);
}

import { writeSync } from "node:fs";
import type { LogLevel } from "./job/spec.ts";

/** What a line is about, besides its event and its sentence. */
export interface LogFields {
  readonly task?: string;
  readonly container?: string;
  readonly generation?: number;
  readonly [name: string]: string | number | boolean | undefined;
}

/** One event a line: `{"level", "time", "task"?, "container"?, "generation"?, "event", …, "message"}`; the message is a full sentence. */
export interface Log {
  debug(event: string, message: string, fields?: LogFields): void;
  info(event: string, message: string, fields?: LogFields): void;
  warn(event: string, message: string, fields?: LogFields): void;
  error(event: string, message: string, fields?: LogFields): void;
  /** The same log with fields that every line carries. */
  with(fields: LogFields): Log;
}

const severity: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/**
 * The log of a program in a container. Lines are written synchronously, because a NodeManager gives a process 250 ms to end.
 * One that cannot be written, to a full disk, is lost.
 * @param descriptor of a file; 1 is the standard output
 */
export function openLog(level: LogLevel, descriptor = 1): Log {
  return logWith({}, (line, of) => {
    if (severity[of] < severity[level]) return;
    try {
      writeSync(descriptor, `${JSON.stringify(line)}\n`);
    } catch {
      // Whatever the log was for goes on.
    }
  });
}

function logWith(common: LogFields, write: (line: object, level: LogLevel) => void): Log {
  const writer = (level: LogLevel) => (event: string, message: string, fields?: LogFields) =>
    write({ level, time: new Date().toISOString(), ...common, event, ...fields, message }, level);
  return {
    debug: writer("debug"),
    info: writer("info"),
    warn: writer("warn"),
    error: writer("error"),
    with: (fields) => logWith({ ...common, ...fields }, write),
  };
}

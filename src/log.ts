import { pino } from "pino";
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
  /** The same log, with these fields added to every line. */
  with(fields: LogFields): Log;
}

/**
 * The log of a program in a container. Lines are written synchronously, because a NodeManager gives a process 250 ms to end. A line that
 * cannot be written, for example to a full disk, is lost.
 * @param descriptor of a file; 1 is standard output
 */
export function openLog(level: LogLevel, descriptor = 1): Log {
  const destination = pino.destination({ dest: descriptor, sync: true });
  destination.on("error", () => {
    // The program continues without this line.
  });
  const logger = pino(
    {
      level,
      base: null,
      messageKey: "message",
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  return logOver(logger);
}

function logOver(logger: pino.Logger): Log {
  const write = (level: LogLevel) => (event: string, message: string, fields?: LogFields) =>
    logger[level]({ event, ...fields }, message);
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    with: (fields) => logOver(logger.child({ ...fields })),
  };
}

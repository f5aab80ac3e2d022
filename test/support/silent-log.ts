import type { Log } from "../../src/log.ts";

/** A log for whatever logs beside what is tested. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  with: () => silentLog,
};

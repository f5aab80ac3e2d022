import type { Log } from "../../src/log.ts";

/** For what logs beside what is tested. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  with: () => silentLog,
};

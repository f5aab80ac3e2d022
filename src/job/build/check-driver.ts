import { findKey } from "../keys.ts";
import type { JobReader } from "./job-reader.ts";

/** The task that TonY adds to a job of Horovod's. */
const DRIVER = "driver";

/** Whether a role of that name is TonY's driver of Horovod, which no job has here. */
export function isHorovodDriver(reader: JobReader, role: string): boolean {
  return role === DRIVER && reader.read("tony.application.framework") === "horovod";
}

/** A driver that is set by hand: TonY takes it only where it is debugged, and such a job runs here without. */
export function checkDriver(reader: JobReader): void {
  const isDebugged = reader.read("tony.horovod.driver.mode.debug");
  for (const key of reader.settings.keys()) {
    const { role } = findKey(key)?.parameters ?? {};
    if (role === undefined || !key.startsWith("tony.driver.") || !isHorovodDriver(reader, role)) continue;
    const instead = "the executor of rank 0 serves the rendezvous";
    if (isDebugged) reader.warn(key, `has no effect: ${instead}`);
    else reader.error(key, `sets a driver of Horovod, which has none here: ${instead}; take it out`);
  }
}

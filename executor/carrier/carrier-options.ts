import type { LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";
import type { Transfer } from "../../src/job/status.ts";
import type { Log } from "../../src/log.ts";
import type { Gate } from "./gate.ts";
import type { Pace } from "./pace.ts";
import type { Persistence } from "./persist.ts";

/** What uploads from a container need. */
export interface CarrierOptions {
  /** Where the program writes. */
  readonly localDir: string;
  /** The container's working directory, which contains it. */
  readonly workFolder: string;
  /** The task's folder, the target of the uploads. */
  readonly folder: LocatedPath;
  readonly pace: Pace;
  /** Closed while nothing may be uploaded. */
  readonly gate: Gate;
  readonly log: Log;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly pause?: Persistence["pause"];
  readonly report: (transfer: Transfer) => void;
}

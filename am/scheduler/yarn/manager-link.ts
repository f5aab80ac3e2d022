import type { Log } from "../../../src/log.ts";
import { machine, rowOf } from "../../../src/moves.ts";
import type { Row } from "../../core/state/machine.ts";
import type { Defects } from "../../core/state/step.ts";

type ManagerPhase = "unregistered" | "answering" | "silent" | "ending" | "over";

const PHASES = {
  unregistered: "it does not know this attempt yet",
  answering: "it answered the last heartbeat",
  silent: "the last heartbeat had no answer: the same heartbeat is repeated first, unchanged",
  ending: "it is being told how the job ended; no further heartbeat begins",
  over: "it says that this attempt is over, or has refused every heartbeat for too long; this attempt touches nothing more",
} satisfies Record<ManagerPhase, string>;

const ROWS = [
  { on: "registered", from: ["unregistered"], to: "answering", durable: false, does: "start" },
  { on: "answered", from: ["answering", "silent"], to: "answering", durable: false, does: "heartbeat" },
  { on: "unanswered", from: ["answering", "silent"], to: "silent", durable: false, does: "heartbeatFailed" },
  { on: "attempt-over", from: ["answering", "silent"], to: "over", durable: false, does: "attemptOver" },
  {
    on: "end-told",
    from: ["unregistered", "answering", "silent", "over"],
    to: "ending",
    durable: false,
    does: "finish",
  },
  // One heartbeat may still be under way when the last begins, or after the attempt has ended.
  { on: "answered", from: ["ending", "over"], to: "ignored", durable: false, does: "heartbeat" },
  { on: "unanswered", from: ["ending", "over"], to: "ignored", durable: false, does: "heartbeatFailed" },
  { on: "attempt-over", from: ["ending", "over"], to: "ignored", durable: false, does: "attemptOver" },
  { on: "end-told", from: ["ending"], to: "ignored", durable: false, does: "finish" },
] as const satisfies readonly Row<ManagerPhase>[];

type ManagerMove = (typeof ROWS)[number]["on"];

export const MANAGER = machine<ManagerPhase, ManagerMove>({
  name: "link to the ResourceManager",
  phases: PHASES,
  groups: {},
  rows: ROWS,
});

/** Where this attempt stands with the ResourceManager. */
export class ManagerLink {
  #phase: ManagerPhase = "unregistered";
  readonly #defects: Defects;
  readonly #log: Log;

  constructor(log: Log, defects: Defects) {
    this.#log = log;
    this.#defects = defects;
  }

  get isSilent(): boolean {
    return this.#phase === "silent";
  }

  /** The only way to change its phase. */
  move(on: ManagerMove): void {
    const row = rowOf(MANAGER, this.#phase, on);
    if (row === undefined) {
      const words = `The table of ${MANAGER.name} has no row for ${on} in ${this.#phase}`;
      if (this.#defects === "throw") throw new Error(words);
      this.#log.error("defect", `${words}. This is a defect of tony-ts, and nothing was changed: please report it.`);
      return;
    }
    if (row.to !== "ignored") this.#phase = row.to;
  }
}

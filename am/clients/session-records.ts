import { shortened } from "../../src/api/believable.ts";
import type { CallerSession, SessionEnd } from "../../src/api/caller-session.ts";
import type { Happening } from "../../src/job/history-event.ts";
import { shellWords } from "../../src/job/shell-words.ts";
import type { Log } from "../../src/log.ts";

type OpenedEvent = Extract<Happening, { type: "session-opened" }>;
type EndedEvent = Extract<Happening, { type: "session-ended" }>;

/** What is recorded of a session. */
type Recorded = Pick<CallerSession, "by" | "task" | "wanted" | "onceOver">;

/** The number of connections that are recorded at most. */
const MOST_CONNECTIONS = 1_000;

/** Where a session is served. */
export interface SessionPlace {
  readonly sessionId: number;
  readonly containerId: string;
}

export interface SessionRecordsOptions {
  readonly log: Log;
  /** Adds an event to the job's history. */
  readonly add: (event: OpenedEvent | EndedEvent, task: string, containerId: string) => void;
}

/** Records in the AM's log and the job's history who ran what in the tasks' containers besides their programs. */
export class SessionRecords {
  readonly #options: SessionRecordsOptions;
  /** Connections already recorded: a browser opens the same one many times. */
  readonly #connections = new Set<string>();

  constructor(options: SessionRecordsOptions) {
    this.#options = options;
  }

  /** Records a session, and its end; of connections to the same port only the first. */
  opened(session: Recorded, place: SessionPlace): void {
    const { by, task, wanted } = session;
    if (wanted.type === "connection") {
      const same = `${by} ${task} ${wanted.port}`;
      if (this.#connections.has(same) || this.#connections.size >= MOST_CONNECTIONS) return;
      this.#tellOpened(session, place, { kind: "connection", port: wanted.port });
      this.#connections.add(same);
      return;
    }
    if (wanted.type === "stacks") {
      const fields = { task, container: place.containerId, session: place.sessionId };
      this.#options.log.info("stacks-asked", `${by} asks where ${task} stands.`, fields);
      return;
    }
    const kind = wanted.terminal === undefined ? "command" : "terminal";
    this.#tellOpened(session, place, { kind, command: shortened(shellWords(wanted.words)) });
    session.onceOver((end) => this.#tellEnded(session, place, `${kind} of ${by}`, howEnded(end)));
  }

  #tellOpened(
    { by, task }: Recorded,
    { sessionId, containerId }: SessionPlace,
    what: Pick<OpenedEvent, "kind" | "command" | "port">,
  ): void {
    const { log, add } = this.#options;
    const words = what.command ?? `to port ${what.port}`;
    const fields = { task, container: containerId, session: sessionId };
    log.info("session-opened", `${by} opens a ${what.kind} in ${task}: ${words}.`, fields);
    add({ type: "session-opened", session: sessionId, by, ...what }, task, containerId);
  }

  #tellEnded({ task }: Recorded, { sessionId, containerId }: SessionPlace, whose: string, how: string): void {
    const { log, add } = this.#options;
    const fields = { task, container: containerId, session: sessionId };
    log.info("session-ended", `The ${whose} in ${task} has ended: ${how}.`, fields);
    add({ type: "session-ended", session: sessionId, how }, task, containerId);
  }
}

/** `exit 1`, `SIGKILL`, or why it was ended. */
function howEnded({ exit, reason }: SessionEnd): string {
  if (exit === undefined) return shortened(reason ?? "closed");
  return exit.signal === "" ? `exit ${exit.exitCode}` : shortened(exit.signal);
}

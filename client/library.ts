/** The library's entry, `import … from "tony-ts"`: submits jobs, follows them, and reads how they ended. */
// Its declarations name types of Node; a compiler of today takes none unless it is told (TypeScript 6 and later).
/// <reference types="node" preserve="true" />
import { type ExitCode, TonyError, usageError } from "../src/errors.ts";
import { errorMessage } from "../src/hadoop/errors.ts";
import { type SubmissionOptions, unknownOption } from "../src/job/build/submission.ts";
import type { JobSpec } from "../src/job/spec.ts";
import type { JobOutcome } from "../src/job/status.ts";
import { linkedSignal } from "../src/linked-signal.ts";
import { readJobText } from "./command-line/read-job.ts";
import type { ClientContext } from "./context.ts";
import { EventView } from "./following/event-view.ts";
import { parseLogSelection } from "./logs/log-selection.ts";
import { Output } from "./output/output.ts";
import type { FollowEvent } from "./printed-json.ts";
import { followStarted, type StartedJob, startJob } from "./submission/start-job.ts";
import { Turns } from "./submission/turns.ts";

export * from "../src/main.ts";
export type {
  EndEvent,
  FollowEvent,
  JobEvent,
  OutputEvent,
  RemarkEvent,
  StatusEvent,
  WaitingEvent,
} from "./printed-json.ts";
export type { ExitCode, JobOutcome, JobSpec, SubmissionOptions };

export interface SubmitOptions {
  /** When it is aborted, the job is ended in order, as by Ctrl-C; before the cluster has accepted the job, nothing is submitted. */
  readonly signal?: AbortSignal;
  /** Runs the job on this machine instead of on the cluster. */
  readonly local?: boolean;
  /** Which tasks' output is among the events: `none`, `all`, `worker:1`, `worker`; default the chief's or worker:0's. */
  readonly logs?: string;
  /** Selects the cluster (HADOOP_CONF_DIR) and the user; default: the process's own environment. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The folder that relative paths start from; default: the process's own. */
  readonly workingDirectory?: string;
}

/** More submissions at once would cost memory and DataNode time-outs, and would not finish sooner. */
const handedIn = new Turns(20);

/**
 * Submits a job; resolves when it has been accepted. Prints nothing, handles no signal of the process, and never exits it.
 * @param job the path or URL of its file, or the options of `tony-ts submit`
 * @throws UserError with a code: `JOB_INVALID` with all that is wrong, `NOT_SUBMITTED` when the signal was aborted first, …
 */
export async function submit(job: string | SubmissionOptions, options: SubmitOptions = {}): Promise<SubmittedJob> {
  const { local = false } = options;
  if (typeof job !== "string") refuseUnknown(job);
  const logs = parseLogSelection(options.logs);
  const remarks: string[] = [];
  const context = quietContext(options, (text) => remarks.push(text));
  const listener = { named: () => {}, uploading: () => {}, uploaded: (line: string) => remarks.push(line.trim()) };
  const started = await withSignal(options.signal, (signal) =>
    handedIn.take(signal, async () => {
      const text = await readJobText(typeof job === "string" ? { conf: [job] } : job, context);
      return await startJob(text, { local, logs }, context, signal, listener);
    }),
  );
  return new SubmittedJob(started, {
    remarks,
    follow: (view) =>
      withSignal(options.signal, (stop) => followStarted(started, { logs }, context, view, { stop, stoppedBy })),
  });
}

/** Gives the work a signal of its own: many jobs may share the caller's. */
async function withSignal<T>(callers: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { signal, release } = linkedSignal(callers);
  try {
    return await work(signal);
  } finally {
    release();
  }
}

function refuseUnknown(job: SubmissionOptions): void {
  const name = unknownOption(job);
  if (name === undefined) return;
  const hint = name.includes(".") ? `; keys of a job go into its list conf: "${name}=…"` : "";
  throw usageError(`submit() has no option "${name}"${hint}`);
}

/** An abort without a reason has the runtime's own reason, which adds nothing. */
function stoppedBy(reason: unknown): string {
  const who = "the program that submitted it";
  const isBare = typeof reason === "object" && reason !== null && "name" in reason && reason.name === "AbortError";
  return isBare ? who : `${who}: ${errorMessage(reason)}`;
}

interface Following {
  /** Remarks on the submission. */
  readonly remarks: readonly string[];
  readonly follow: (view: EventView) => Promise<ExitCode>;
}

/**
 * A job that the cluster has accepted. It is followed from the first time that somebody reads its events or waits for its end; until
 * then, and after this process ends, it runs on by itself.
 */
export class SubmittedJob implements AsyncIterable<FollowEvent> {
  /** `application_…`, or `local_…` */
  readonly id: string;
  /** The job as it was submitted. */
  readonly spec: JobSpec;
  readonly #applications: StartedJob["applications"];
  readonly #following: Following;
  readonly #readers = new Set<(event: FollowEvent) => void>();
  #ended: Promise<JobOutcome> | undefined;
  #end: FollowEvent | undefined;

  /** Made by `submit`. */
  constructor({ id, spec, applications }: StartedJob, following: Following) {
    this.id = id;
    this.spec = spec;
    this.#applications = applications;
    this.#following = following;
  }

  /**
   * Its events from now on, as `tony-ts submit --json` prints them (docs/reference/json.md), up to `end`, which a late reader gets too. Rejects
   * as `ended` does.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<FollowEvent> {
    const { name, queue } = this.spec;
    yield { event: "job", applicationId: this.id, name, queue, submitted: true };
    for (const text of this.#following.remarks) yield { event: "remark", text };
    yield* this.#untilEnded();
  }

  async *#untilEnded(): AsyncGenerator<FollowEvent> {
    const unread: FollowEvent[] = this.#end === undefined ? [] : [this.#end];
    let isOver = false;
    let wake = () => {};
    const take = (event: FollowEvent) => {
      unread.push(event);
      wake();
    };
    this.#readers.add(take);
    const over = () => {
      isOver = true;
      wake();
    };
    const ended = this.ended();
    ended.then(over, over);
    try {
      while (!isOver || unread.length > 0) {
        yield* unread.splice(0);
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (isOver || unread.length > 0) resolve();
        });
      }
      await ended;
    } finally {
      this.#readers.delete(take);
    }
  }

  /**
   * How it ended.
   * @throws UserError (`CONTACT_LOST`) when that cannot be found out; TonyError (`STILL_RUNNING`) when it did not end in time after
   * the signal
   */
  ended(): Promise<JobOutcome> {
    this.#ended ??= this.#follow();
    return this.#ended;
  }

  async #follow(): Promise<JobOutcome> {
    let outcome: JobOutcome | undefined;
    const view = new EventView({
      event: (event) => {
        if (event.event === "end") {
          outcome = event.outcome ?? undefined;
          this.#end = event;
        }
        this.#tell(event);
      },
      problem: (text) => this.#tell({ event: "remark", text }),
    });
    try {
      await this.#following.follow(view);
    } finally {
      this.#applications.close();
    }
    if (outcome === undefined) throw new TonyError(`${this.id} may still run`, { code: "STILL_RUNNING" });
    return outcome;
  }

  #tell(event: FollowEvent): void {
    for (const reader of this.#readers) reader(event);
  }
}

/** A context that prints nothing: what would go to standard error is passed to the caller. */
function quietContext(
  { environment = process.env, workingDirectory = process.cwd() }: SubmitOptions,
  remark: (text: string) => void,
): ClientContext {
  const output = new Output({
    out: { write: () => undefined },
    err: { write: (text) => remark(text.trimEnd()) },
    environment,
    now: Date.now,
  });
  return { environment, workingDirectory, output, streams: process, now: Date.now };
}

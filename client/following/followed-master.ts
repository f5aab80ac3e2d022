import type { UserError } from "../../src/errors.ts";
import { parseAttemptId } from "../../src/hadoop/yarn/ids.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { durationWords } from "../../src/job/reasons/words.ts";
import { shownNameInTrial } from "../../src/job/search/trial-tasks.ts";
import type { JobOutcome, JobStatus } from "../../src/job/status.ts";
import type { MasterContact } from "../applications/applications.ts";
import {
  byTaskOf,
  type LogSelection,
  noSuchTask,
  ofEarlierSearch,
  selectNames,
  selectTasks,
  taskNames,
} from "../logs/log-selection.ts";
import { TaskTails } from "../logs/task-tails.ts";
import { MasterSession } from "../master/master-session.ts";
import { type FollowOptions, tellSilenceAfterMs } from "./follow-options.ts";

/** How long to wait, after the job's end, for the rest of the output from an AM that is still sending it. */
const lastOutputMs = 5_000;

/** What a job's AMs report, one attempt after the other: states, the tasks' output, the outcome; and that an AM is silent. */
export class FollowedMaster {
  readonly #options: FollowOptions;
  readonly #wake: () => void;
  readonly #tails: TaskTails;
  #session: MasterSession | undefined;
  #status: JobStatus | undefined;
  #outcome: JobOutcome | undefined;
  #refused: UserError | undefined;
  #silenceTold = false;
  #contactlessSinceMs: number | undefined;
  #contactlessTold = false;

  /** @param wake is called when there is news that decides what to do next */
  constructor(options: FollowOptions, wake: () => void) {
    this.#options = options;
    this.#wake = wake;
    this.#tails = new TaskTails({
      print: (task, line) => options.view.taskLine(task, line),
      now: options.now,
      from: options.logsFrom ?? (() => 0),
      ...(options.executor && { executor: true }),
    });
  }

  /** The connection to the last attempt that was found. */
  get session(): MasterSession | undefined {
    return this.#session;
  }

  /** Set as soon as the job's end is decided. */
  get outcome(): JobOutcome | undefined {
    return this.#outcome;
  }

  /** Why the requested output cannot come: the task does not exist. */
  get refused(): UserError | undefined {
    return this.#refused;
  }

  /** Whether the AM's stream makes asking the ResourceManager unnecessary. */
  get isHeard(): boolean {
    return (
      this.#outcome === undefined &&
      this.#session !== undefined &&
      this.#session.state !== "closed" &&
      this.#session.silentMs < tellSilenceAfterMs
    );
  }

  /** Connects to the AM of a running job, unless that is done already or impossible. */
  async find(report: ApplicationReport): Promise<void> {
    const contact = await this.#options.applications.contact(report);
    if (contact === undefined) this.#tellNoContact(report);
    else if (this.#isNews(contact)) this.#connect(contact);
  }

  /** Reports once that the AM is silent, and what the ResourceManager says meanwhile. */
  tellSilence(report: ApplicationReport | undefined): void {
    const session = this.#session;
    if (session === undefined || this.#silenceTold || this.#outcome !== undefined) return;
    if (session.silentMs < tellSilenceAfterMs) return;
    this.#silenceTold = true;
    const attempt =
      report?.currentAttemptId === undefined ? "" : `, attempt ${parseAttemptId(report.currentAttemptId).attempt}`;
    const manager =
      report === undefined ? "nor does the ResourceManager" : `the ResourceManager says ${report.state}${attempt}`;
    const silence = `The AM has not answered for ${durationWords(session.silentMs)}`;
    this.#options.view.line(`${silence}; ${manager}; still trying`);
  }

  /** Resolves when the rest of an ended job's output has arrived. */
  async finish(): Promise<void> {
    await this.#tails.finish(this.#session === undefined ? 0 : lastOutputMs);
  }

  /**
   * The tasks of an ended job whose output was requested and not read to its end, for example because this client was stopped for a
   * while.
   * @param kept the job's last state, where the AMs' streams did not bring it
   */
  unseen(kept: JobStatus | undefined): string[] {
    const status = kept ?? this.#status;
    const { logs, leadTask } = this.#options;
    if (status === undefined || isOfNobody(logs, status)) return [];
    const ran = selectTasks(logs, status, leadTask).filter(({ startedAtMs }) => startedAtMs !== undefined);
    return ran.map(({ task }) => task).filter((task) => !this.#tails.isWhole(task));
  }

  /** Whether nothing of a task's output was read. */
  isUnread(task: string): boolean {
    return this.#tails.isUnread(task);
  }

  close(): void {
    this.#tails.detach();
    this.#session?.close();
  }

  /** The job is another user's, or was known before its AM's address. */
  #tellNoContact(report: ApplicationReport): void {
    const { now, applications, view } = this.#options;
    this.#contactlessSinceMs ??= now();
    if (this.#contactlessTold || now() - this.#contactlessSinceMs < tellSilenceAfterMs) return;
    this.#contactlessTold = true;
    view.line(
      `Its AM cannot be asked: ${applications.noContactReason(report)}; until then only the ResourceManager is asked`,
    );
  }

  /** Not the attempt that the client is connected to already, nor one older than that. */
  #isNews({ attempt }: MasterContact): boolean {
    const session = this.#session;
    if (session === undefined || attempt > session.contact.attempt) return true;
    return attempt === session.contact.attempt && session.state === "closed";
  }

  #connect(contact: MasterContact): void {
    this.#session?.close();
    const link = this.#options.connect(contact);
    const session: MasterSession = new MasterSession(
      contact,
      link,
      {
        status: (status) => {
          if (session === this.#session) this.#hear(status);
        },
        outcome: (outcome) => {
          if (session !== this.#session) return;
          this.#outcome = outcome;
          this.#wake();
        },
        // An AM may go on refusing us for long.
        closed: (wasOpen) => {
          if (wasOpen) this.#wake();
        },
      },
      this.#options.now,
    );
    this.#session = session;
    this.#tails.attach(link, contact.attempt);
    // Requested at once: a program that ends quickly may be gone before its AM has reported the task.
    const { tasks, logs } = this.#options;
    if (tasks !== undefined) this.#followOutput(tasks, logs);
  }

  #hear(status: JobStatus): void {
    const { view } = this.#options;
    if (this.#silenceTold) view.line("The AM answers again");
    this.#silenceTold = false;
    view.show(this.#options.applications.explainedSoon(status));
    this.#status = status;
    this.#outcome ??= status.outcome;
    this.#followOutput(taskNames(status), byTaskOf(this.#options.logs, status));
  }

  /** Refuses a request for output that cannot come as soon as the tasks are known. */
  #followOutput(tasks: readonly string[], logs: LogSelection): void {
    const { leadTask } = this.#options;
    this.#refused ??= this.#status && ofEarlierSearch(this.#options.logs, this.#status);
    this.#refused ??= noSuchTask(logs, tasks, (task) => this.#status && shownNameInTrial(this.#status, task));
    if (this.#refused !== undefined) this.#wake();
    else if (logs.kind === "master") this.#tails.follow(["am"], ["stdout"]);
    else if (!isOfNobody(logs, this.#status)) this.#tails.follow(selectNames(logs, tasks, leadTask));
  }
}

/** Without an explicit request no trial's output is shown: no trial leads a search. */
function isOfNobody({ kind }: LogSelection, status: JobStatus | undefined): boolean {
  return kind === "lead" && status?.search !== undefined;
}

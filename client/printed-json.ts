/** What `--json` prints, command by command. docs/reference/json.md is made from these (`npm run docs`). Fields are only ever added. */
import type { AdvisedSetting } from "../src/advice/advise.ts";
import type { DrElephant } from "../src/advice/dr-elephant.ts";
import type { ReadableStream } from "../src/api/messages.ts";
import type { ExitCode } from "../src/errors.ts";
import type { ApplicationReport, ApplicationState, FinalStatus } from "../src/hadoop/yarn/records.ts";
import type { SeriesRow } from "../src/history/series/file.ts";
import type { ListedKey } from "../src/job/key-list.ts";
import type { Problem } from "../src/job/problem.ts";
import type { AdviceReason } from "../src/job/reasons/advice.ts";
import type { DelayReason } from "../src/job/reasons/waits.ts";
import type { Parameters } from "../src/job/search/space.ts";
import type { Stop } from "../src/job/search/stop.ts";
import type { TrialJson } from "../src/job/search/trial-list.ts";
import type { Search } from "../src/job/search/trials.ts";
import type { JobSpec } from "../src/job/spec.ts";
import type { PlaceGroup, ProcessStacks } from "../src/job/stacks.ts";
import type { JobOutcome, JobStatus, SearchStatus } from "../src/job/status.ts";
import type { Timeline } from "../src/job/timeline.ts";
import type { Finding } from "./cluster/findings.ts";
import type { Holder, LabelShare, NodeShare } from "./cluster/nodes-overview.ts";
import type { CachedFile } from "./shipping/cache-prune.ts";
import type { PlannedFile } from "./shipping/shipping.ts";

/** Instead of a result, when a command cannot do what it should; where it prints events, these fields are in the last one, `end`. */
export interface ErrorJson {
  readonly error: ErrorWords;
  readonly exitCode: ExitCode;
}

export interface ErrorWords {
  /** `USAGE`, `NO_CLUSTER`, `RPC_CONNECT_FAILED`: stays the same while the message may change. */
  readonly code: string;
  /** For people. */
  readonly message: string;
  /** Whether the same command may succeed later, unchanged. */
  readonly retryable: boolean;
}

export interface StatusJson {
  readonly status: JobStatus;
  /** Whether its AM told or left the status; else it is what the ResourceManager's report comes to, without tasks. */
  readonly statusFrom: "am" | "resource-manager";
  /** What its time went to; absent where its AM told nothing. */
  readonly timeline?: Timeline;
  readonly report: ApplicationReport;
  /** Why it does not run yet, why its AM cannot be asked, or whom what it left is kept for. */
  readonly remark?: string;
}

export interface ListJson {
  /** The newest first. */
  readonly jobs: readonly ApplicationReport[];
  /** How many older ones there are beyond `--limit`. */
  readonly more: number;
  /** Where was looked: without `yarn` the cluster was not asked. */
  readonly places: readonly ListPlace[];
  /** The one of `--user`, where the ResourceManager has no application of theirs, of any kind. */
  readonly unknownUser?: string;
}

export type ListPlace = "yarn" | "local";

export interface StacksJson {
  readonly tasks: readonly TaskStacks[];
  /** Who stands at the same place, those of the most first; processes that run the job's own code, without their helpers. */
  readonly groups: readonly PlaceGroup[];
}

export interface TaskStacks {
  readonly task: string;
  readonly processes: readonly ProcessStacks[];
  /** Why it could not be asked; its processes are not known then. */
  readonly why?: string;
}

export interface GetJson {
  readonly applicationId: string;
  readonly what: "results" | "checkpoint" | "history";
  /** Nothing was fetched. */
  readonly dryRun: boolean;
  /** Where the files are on this machine, in full. */
  readonly folder: string;
  readonly files: readonly FetchedFile[];
  /** What is missing, and why; for people. */
  readonly remarks: readonly string[];
}

/** What tasks used and reported over time: their span number `n` begins `n * spanMs` after `fromMs`. */
export interface SeriesJson {
  readonly applicationId: string;
  /** The attempt of the ApplicationMaster that heard them. */
  readonly attempt: number;
  readonly fromMs: number;
  readonly spanMs: number;
  readonly tasks: readonly SeriesRow[];
}

/** What earlier runs of a job say about its next one. */
export interface AdviceJson {
  readonly name: string;
  /** What it is drawn from; the newest first. */
  readonly runs: readonly AdvisedRun[];
  readonly advice: readonly AdviceReason[];
  /** What of it are settings of the job. */
  readonly settings: readonly AdvisedSetting[];
  /** What Dr. Elephant says of the newest run. */
  readonly drElephant: DrElephant;
}

export interface AdvisedRun {
  readonly applicationId: string;
  readonly submittedAtMs: number;
  /** Absent while it runs. */
  readonly endedAtMs?: number;
  readonly usage: JobStatus["usage"];
  /** Whether its history has what its tasks used over time. */
  readonly hasSeries: boolean;
}

export interface FetchedFile {
  /** Relative to the folder, as the job's program named it. */
  readonly path: string;
  readonly url: string;
  readonly sizeBytes: number;
}

export interface NodesJson {
  readonly nodes: readonly NodeShare[];
  /** Of the nodes that run, by label; the nodes without one first. */
  readonly labels: readonly LabelShare[];
  /** Applications of any user and type that hold containers, those with the most memory first. */
  readonly holders: readonly Holder[];
}

export interface KillJson {
  readonly jobs: readonly (KilledJob | NotKilledJob)[];
}

export interface KilledJob {
  readonly applicationId: string;
  readonly state: ApplicationState;
  readonly finalStatus: FinalStatus;
}

export interface NotKilledJob {
  readonly applicationId: string;
  readonly error: ErrorWords;
}

export interface ValidateJson {
  readonly valid: boolean;
  readonly problems: readonly Problem[];
  /** All that the job comes to, where it can be read; it has a version of its own. */
  readonly spec?: JobSpec;
  /** What the job searches for, and where, if it is a search. */
  readonly search?: Search;
}

/** What a search would run next. */
export interface SearchDryRunJson {
  readonly dryRun: true;
  readonly search: Search;
  readonly trials: readonly NextTrial[];
  /** Which of the trials that run are to be stopped early (`tony.search.stop`). */
  readonly stops: readonly (Stop & { readonly number: number })[];
  /** Why there are no more: as many as were asked for, everything was tried, or what comes next depends on those that run. */
  readonly end?: "enough" | "exhausted" | "waits";
}

export interface NextTrial {
  readonly number: number;
  /** By their names; one whose condition does not hold is not there. */
  readonly params: Parameters;
  /** What each role would run. */
  readonly commands: Readonly<Record<string, string>>;
}

export interface TrialsJson {
  readonly applicationId: string;
  readonly search: SearchStatus;
  /** The best first: those that have ended or pause, then those that run, then those that failed. */
  readonly trials: readonly TrialJson[];
  /** The best one that has ended with a value, and what runs it alone. */
  readonly best?: {
    readonly number: number;
    /** A search of it alone. */
    readonly command: string;
    /** What its task ran, for a shell. */
    readonly program: string;
    /** Settings of the search's own command line, whose values are not kept: `command` has `<the same value>` in their places. */
    readonly notKept?: readonly string[];
  };
}

export interface DetachedJson {
  readonly applicationId: string;
}

/** One line, when the port is open. */
export interface ForwardJson {
  /** Of this machine: `127.0.0.1:8080`. */
  readonly address: string;
  readonly task: string;
  /** The one that it is forwarded to. */
  readonly port: number;
}

export interface DryRunJson {
  readonly dryRun: true;
  readonly spec: JobSpec;
  /** Warnings. */
  readonly problems: readonly Problem[];
  readonly asks: AskedInAll;
  /** What would travel; nothing does with the local scheduler. */
  readonly files: readonly PlannedFile[];
  readonly feeds: readonly FeedForecast[];
}

/** What of a feed is known before it is read. */
export interface FeedForecast {
  readonly name: string;
  readonly files: number;
  readonly bytes: number;
  readonly splits: number;
  /** Files that are one split each, although they are larger than one is to be. */
  readonly uncut: number;
  /** Absent: there are none. */
  readonly largestUncut?: { readonly path: string; readonly bytes: number };
}

/** Of all containers, the AM's too. */
export interface AskedInAll {
  readonly containers: number;
  readonly memoryMiB: number;
  readonly vcores: number;
  readonly others: Readonly<Record<string, number>>;
}

export interface KeysJson {
  readonly keys: readonly ListedKey[];
}

export interface MigrateJson {
  readonly files: readonly MigratedFile[];
}

/** A file of TonY's, and what it becomes. */
export interface MigratedFile {
  readonly source: string;
  /** The new file, where one was written. */
  readonly written?: string;
  /** In the order of the file. */
  readonly remarks: readonly MigrationRemark[];
  /** What to type instead of TonY's command lines. */
  readonly commands: readonly MigratedCommand[];
}

/** What becomes of one line. What has no meaning is left out of the new file; all else is in it. */
export interface MigrationRemark {
  readonly kind: MigrationKind;
  /** `job.xml:12`, or the file alone. */
  readonly at: string;
  readonly message: string;
}

export type MigrationKind = "stays" | "changes" | "no-meaning" | "to-mend";

export interface MigratedCommand {
  /** Of the command line that it replaces, or the new file. */
  readonly at: string;
  readonly command: string;
}

export interface DoctorJson {
  readonly findings: readonly Finding[];
}

export interface CacheListJson {
  readonly files: readonly CachedFile[];
}

export interface CachePruneJson {
  readonly dryRun: boolean;
  readonly freedBytes: number;
  readonly removed: readonly CachedFile[];
}

/** A key of a job's store. Its value is text in `value`, or else in `valueBase64`; of its revisions one created it, one wrote it last. */
export interface KvEntry {
  readonly key: string;
  readonly value?: string;
  readonly valueBase64?: string;
  readonly created: number;
  readonly modified: number;
  /** How often it was written since it was created. */
  readonly version: number;
  /** The life of a task, `worker:0`, that it goes with. */
  readonly owner?: { readonly task: string; readonly generation: number };
}

export interface PageJson {
  readonly applicationId: string;
  /** Whoever has it sees the whole job. */
  readonly url: string;
}

export interface KvGetJson {
  /** The store's. */
  readonly revision: number;
  readonly entry: KvEntry;
}

export interface KvPutJson {
  readonly revision: number;
  /** The key was there before. */
  readonly replaced: boolean;
}

export interface KvDelJson {
  readonly revision: number;
  readonly deleted: number;
}

/** One a line, of each revision: what it did to the keys that are watched. */
export interface KvWatchJson {
  /** Of the AM that told it; with the revision the place from where to go on. */
  readonly attempt: number;
  readonly revision: number;
  /** None in the first one. */
  readonly changes: readonly KvChange[];
}

export interface KvChange {
  /** The key; absent: it is gone. */
  readonly entry?: KvEntry;
  readonly key: string;
}

export interface KvTransactJson {
  readonly revision: number;
  /** Its conditions held. */
  readonly succeeded: boolean;
  /** Of its operations, in their order. */
  readonly results: readonly KvResult[];
}

/** `entry` is what a get found, `before` what a put replaced, `entries` what a list found, `deleted` how many keys a delete took. */
export interface KvResult {
  readonly before?: KvEntry;
  readonly deleted?: number;
  readonly entries?: readonly KvEntry[];
  readonly entry?: KvEntry;
  /** The list is longer than that. */
  readonly more?: boolean;
}

export interface KvListJson {
  readonly revision: number;
  readonly entries: readonly KvEntry[];
}

/** The first: which job it is. */
export interface JobEvent {
  readonly event: "job";
  readonly applicationId: string;
  readonly name: string;
  readonly queue: string;
  /** It was submitted just now, rather than followed again. */
  readonly submitted: boolean;
}

/** Before its AM runs, and between two: whenever the reason changes. */
export interface WaitingEvent {
  readonly event: "waiting";
  readonly state: ApplicationState;
  readonly reason: string;
  /** The reason as data. */
  readonly delay: DelayReason;
}

/** Whenever more has changed than times and amounts. */
export interface StatusEvent {
  readonly event: "status";
  readonly status: JobStatus;
}

/** A line of a task's output. */
export interface OutputEvent {
  readonly event: "output";
  /** `worker:0`, or `am`. */
  readonly task: string;
  readonly stream: ReadableStream;
  /** Of a progress bar that overwrites itself the last state. */
  readonly line: string;
  /** Where it is known. */
  readonly generation?: number;
  /** It was written by then, where that is known. */
  readonly atMs?: number;
}

/** Something said beside: what was uploaded, that the AM does not answer. */
export interface RemarkEvent {
  readonly event: "remark";
  readonly text: string;
}

/** The last one, also where nothing could be done: an error stands in it then. */
export interface EndEvent {
  readonly event: "end";
  /** Null where the job has not ended, or it is not known how. */
  readonly outcome: JobOutcome | null;
  /** That of the job; 5 where it has not ended; that of the error. */
  readonly exitCode: ExitCode;
  readonly error?: ErrorWords;
}

/** One line of a job that is followed. */
export type FollowEvent = JobEvent | WaitingEvent | StatusEvent | OutputEvent | RemarkEvent | EndEvent;

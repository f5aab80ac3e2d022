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

/** Printed in place of a result when a command fails; a command that prints events has these fields in the last one, `end`. */
export interface ErrorJson {
  readonly error: ErrorWords;
  readonly exitCode: ExitCode;
}

export interface ErrorWords {
  /** `USAGE`, `NO_CLUSTER`, `RPC_CONNECT_FAILED`: stays the same when the message changes. */
  readonly code: string;
  /** For people. */
  readonly message: string;
  /** Whether the same command may succeed later, unchanged. */
  readonly retryable: boolean;
}

export interface StatusJson {
  readonly status: JobStatus;
  /** Whether the status is from the AM, live or left behind; otherwise it is made from the ResourceManager's report, without tasks. */
  readonly statusFrom: "am" | "resource-manager";
  /** How its time was spent; absent where its AM reported nothing. */
  readonly timeline?: Timeline;
  readonly report: ApplicationReport;
  /** Why it does not run yet, why its AM cannot be asked, or who alone may read what it left. */
  readonly remark?: string;
}

export interface ListJson {
  /** The newest first. */
  readonly jobs: readonly ApplicationReport[];
  /** How many older jobs `--limit` leaves out. */
  readonly more: number;
  /** The places that were asked: without `yarn` the cluster was not. */
  readonly places: readonly ListPlace[];
  /** The user of `--user`, where the ResourceManager has no application of theirs of any kind. */
  readonly unknownUser?: string;
}

export type ListPlace = "yarn" | "local";

export interface StacksJson {
  readonly tasks: readonly TaskStacks[];
  /** Processes with the same stack, the largest group first; only those that run the job's own code, without their helpers. */
  readonly groups: readonly PlaceGroup[];
}

export interface TaskStacks {
  readonly task: string;
  readonly processes: readonly ProcessStacks[];
  /** Why the task could not be asked; its processes are unknown then. */
  readonly why?: string;
}

export interface GetJson {
  readonly applicationId: string;
  readonly what: "results" | "checkpoint" | "history";
  /** Nothing was fetched. */
  readonly dryRun: boolean;
  /** The absolute path of the files on this machine. */
  readonly folder: string;
  readonly files: readonly FetchedFile[];
  /** What is missing, and why; for people. */
  readonly remarks: readonly string[];
}

/** What tasks used and reported over time: span number `n` begins `n * spanMs` after `fromMs`. */
export interface SeriesJson {
  readonly applicationId: string;
  /** The attempt of the ApplicationMaster that collected them. */
  readonly attempt: number;
  readonly fromMs: number;
  readonly spanMs: number;
  readonly tasks: readonly SeriesRow[];
}

/** What earlier runs of a job suggest for its next one. */
export interface AdviceJson {
  readonly name: string;
  /** The runs that the advice is based on; the newest first. */
  readonly runs: readonly AdvisedRun[];
  readonly advice: readonly AdviceReason[];
  /** The advice that can be given as settings of the job. */
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
  /** Whether its history includes what its tasks used over time. */
  readonly hasSeries: boolean;
}

export interface FetchedFile {
  /** Relative to the folder, with the name that the job's program gave it. */
  readonly path: string;
  readonly url: string;
  readonly sizeBytes: number;
}

export interface NodesJson {
  readonly nodes: readonly NodeShare[];
  /** The nodes that run, by label; the nodes without a label first. */
  readonly labels: readonly LabelShare[];
  /** Applications of any user and type that hold containers; those with the most memory first. */
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
  /** The complete specification of the job, where it can be built; it has a version of its own. */
  readonly spec?: JobSpec;
  /** What the job searches for and where, if it is a search. */
  readonly search?: Search;
}

/** What a search would run next. */
export interface SearchDryRunJson {
  readonly dryRun: true;
  readonly search: Search;
  readonly trials: readonly NextTrial[];
  /** Running trials that are to be stopped early (`tony.search.stop`). */
  readonly stops: readonly (Stop & { readonly number: number })[];
  /** Why there are no more: the requested number is reached, everything was tried, or the next ones depend on running trials. */
  readonly end?: "enough" | "exhausted" | "waits";
}

export interface NextTrial {
  readonly number: number;
  /** By name; a parameter whose condition does not hold is absent. */
  readonly params: Parameters;
  /** What each role would run. */
  readonly commands: Readonly<Record<string, string>>;
}

export interface TrialsJson {
  readonly applicationId: string;
  readonly search: SearchStatus;
  /** The best first: trials that have ended or pause, then running ones, then failed ones. */
  readonly trials: readonly TrialJson[];
  /** The best trial that has ended with a value, and what runs it alone. */
  readonly best?: {
    readonly number: number;
    /** Runs a search of this trial alone. */
    readonly command: string;
    /** What the trial's task ran, for a shell. */
    readonly program: string;
    /** Settings of the search's own command line whose values are not kept: `command` has `<the same value>` in their place. */
    readonly notKept?: readonly string[];
  };
}

export interface DetachedJson {
  readonly applicationId: string;
}

/** One line, once the port is open. */
export interface ForwardJson {
  /** On this machine: `127.0.0.1:8080`. */
  readonly address: string;
  readonly task: string;
  /** The port in the task's container. */
  readonly port: number;
}

export interface DryRunJson {
  readonly dryRun: true;
  readonly spec: JobSpec;
  /** Warnings. */
  readonly problems: readonly Problem[];
  readonly asks: AskedInAll;
  /** The files to upload; with the local scheduler there are none. */
  readonly files: readonly PlannedFile[];
  readonly feeds: readonly FeedForecast[];
}

/** What is known of a feed before it is read. */
export interface FeedForecast {
  readonly name: string;
  readonly files: number;
  readonly bytes: number;
  readonly splits: number;
  /** Files that make one split each, although they are larger than a split should be. */
  readonly uncut: number;
  /** Absent when there are none. */
  readonly largestUncut?: { readonly path: string; readonly bytes: number };
}

/** The resources of all containers, including the AM's. */
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

/** A TonY file, and what it was migrated to. */
export interface MigratedFile {
  readonly source: string;
  /** The new file, where one was written. */
  readonly written?: string;
  /** In the order of the file's lines. */
  readonly remarks: readonly MigrationRemark[];
  /** The command lines to use in place of TonY's. */
  readonly commands: readonly MigratedCommand[];
}

/** What happens to one line. A line without meaning is left out of the new file; all others are in it. */
export interface MigrationRemark {
  readonly kind: MigrationKind;
  /** `job.xml:12`, or the file alone. */
  readonly at: string;
  readonly message: string;
}

export type MigrationKind = "stays" | "changes" | "no-meaning" | "to-mend";

export interface MigratedCommand {
  /** The place of the command line that it replaces, or the new file. */
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

/** A key of a job's store. Its value is in `value` if it is text, or else in `valueBase64`; one of its revisions created it, one wrote it last. */
export interface KvEntry {
  readonly key: string;
  readonly value?: string;
  readonly valueBase64?: string;
  readonly created: number;
  readonly modified: number;
  /** How many times it was written since its creation. */
  readonly version: number;
  /** The life of a task, `worker:0`, after which the key is deleted. */
  readonly owner?: { readonly task: string; readonly generation: number };
}

export interface PageJson {
  readonly applicationId: string;
  /** Anybody who has this address sees the whole job. */
  readonly url: string;
}

export interface KvGetJson {
  /** The store's revision. */
  readonly revision: number;
  readonly entry: KvEntry;
}

export interface KvPutJson {
  readonly revision: number;
  /** Whether the key existed before. */
  readonly replaced: boolean;
}

export interface KvDelJson {
  readonly revision: number;
  readonly deleted: number;
}

/** One line per revision: what it did to the watched keys. */
export interface KvWatchJson {
  /** The attempt of the AM that reported it; together with the revision it is the position to continue from. */
  readonly attempt: number;
  readonly revision: number;
  /** Empty in the first line. */
  readonly changes: readonly KvChange[];
}

export interface KvChange {
  /** The key's entry; absent: the key was deleted. */
  readonly entry?: KvEntry;
  readonly key: string;
}

export interface KvTransactJson {
  readonly revision: number;
  /** Whether its conditions held. */
  readonly succeeded: boolean;
  /** The results of its operations, in their order. */
  readonly results: readonly KvResult[];
}

/** `entry` is what a get found, `before` what a put replaced, `entries` what a list found, `deleted` the number of keys that a delete removed. */
export interface KvResult {
  readonly before?: KvEntry;
  readonly deleted?: number;
  readonly entries?: readonly KvEntry[];
  readonly entry?: KvEntry;
  /** The list continues after these entries. */
  readonly more?: boolean;
}

export interface KvListJson {
  readonly revision: number;
  readonly entries: readonly KvEntry[];
}

/** The first event: which job it is. */
export interface JobEvent {
  readonly event: "job";
  readonly applicationId: string;
  readonly name: string;
  readonly queue: string;
  /** Whether it was submitted just now, or else is followed again. */
  readonly submitted: boolean;
}

/** Before its AM runs, and between two attempts: each time the reason changes. */
export interface WaitingEvent {
  readonly event: "waiting";
  readonly state: ApplicationState;
  readonly reason: string;
  /** The reason as data. */
  readonly delay: DelayReason;
}

/** Each time anything changes but times and amounts. */
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
  /** For a progress bar that overwrites itself, its last state. */
  readonly line: string;
  /** The generation, where it is known. */
  readonly generation?: number;
  /** The time by which the line was written, where it is known. */
  readonly atMs?: number;
}

/** A remark by the client: what was uploaded, that the AM does not answer. */
export interface RemarkEvent {
  readonly event: "remark";
  readonly text: string;
}

/** The last event, also where nothing could be done: it includes the error then. */
export interface EndEvent {
  readonly event: "end";
  /** Null where the job has not ended, or nobody knows how it ended. */
  readonly outcome: JobOutcome | null;
  /** The job's exit code; 5 where it has not ended; the error's code. */
  readonly exitCode: ExitCode;
  readonly error?: ErrorWords;
}

/** One line about a followed job. */
export type FollowEvent = JobEvent | WaitingEvent | StatusEvent | OutputEvent | RemarkEvent | EndEvent;

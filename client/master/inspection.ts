import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { feedLines } from "../../src/job/feeds/feed-lines.ts";
import type { Gauge } from "../../src/job/gpus.ts";
import { idleRemedy, idleWords } from "../../src/job/idle.ts";
import { type DelayReason, delayWords } from "../../src/job/reasons/waits.ts";
import { countWords, durationWords, sizeWords } from "../../src/job/reasons/words.ts";
import { containerTimeWords } from "../../src/job/search/container-time.ts";
import { countsLine, trialsOf } from "../../src/job/search/trial-list.ts";
import { spokenName } from "../../src/job/search/trial-tasks.ts";
import type { JobStatus, SearchStatus, TaskStatus } from "../../src/job/status.ts";
import { parseTaskId, taskSpans } from "../../src/job/task.ts";
import { timelineOf, totalWords } from "../../src/job/timeline.ts";
import { SLOW_RATE } from "../../src/page/relative-rates.ts";
import {
  type Applications,
  durationMs,
  finalState,
  hasEnded,
  type MasterContact,
} from "../applications/applications.ts";
import { masterFailure } from "../applications/master-failure.ts";
import { outcomeOf } from "../applications/outcome.ts";
import { statusOfReport } from "../applications/report-status.ts";
import { formatBudgets } from "../output/budgets.ts";
import { formatClock, formatDate, formatTable } from "../output/format.ts";
import {
  costLines,
  formatCheckpoint,
  formatDropped,
  formatExit,
  generationTable,
  generationWords,
} from "../output/job-tables.ts";
import { failureReport, masterlessReport } from "../output/report.ts";
import { transferLines } from "../output/transfer-lines.ts";
import { bestTrialWords, trialCounts } from "../output/trial-table.ts";
import { memoryPeak } from "../output/use-words.ts";
import { waitingLines } from "../output/wait-block.ts";
import type { StatusJson } from "../printed-json.ts";
import { type AttemptConnection, statusNow } from "./attempt-connection.ts";

/** When an AM says nothing for this long, the ResourceManager's report has to do. */
const answerLimitMs = 5_000;

/** The state of one application at one moment. */
export interface Inspection {
  readonly report: ApplicationReport;
  /** From its AM, or from what the AM left behind. */
  readonly status?: JobStatus;
  /** Why it has no status, or why it does not run yet. */
  readonly remark?: string;
  /** The same as data. */
  readonly delay?: DelayReason;
}

/** Asks the ResourceManager and, where it runs, the AM. */
export async function inspect(
  id: string,
  applications: Applications,
  connect: (contact: MasterContact) => AttemptConnection,
): Promise<Inspection> {
  const report = await applications.report(id);
  if (hasEnded(report)) {
    const status = await applications.finalStatus(report);
    if (status !== undefined) return { report, status };
    return { report, ...whyUnknown(report, applications) };
  }
  if (report.state !== "RUNNING") return { report, ...remarkOf(await applications.waitingReason(report)) };
  const contact = await applications.contact(report);
  if (contact === undefined)
    return { report, ...said(`its AM cannot be asked: ${applications.noContactReason(report)}`) };
  const link = connect(contact);
  const status = await statusNow(link, answerLimitMs)
    .catch(() => undefined)
    .finally(() => link.close());
  return status === undefined
    ? { report, ...said("its AM does not answer") }
    : { report, status: await applications.explained(status) };
}

/** Why nothing is known about the tasks of an application that has ended; nothing where their status was not kept. */
export function whyUnknown(
  { user }: ApplicationReport,
  applications: Pick<Applications, "user" | "noStatusReason">,
): Pick<Inspection, "remark" | "delay"> {
  if (user !== applications.user) return said(`only ${user} can see what became of its tasks`);
  const why = applications.noStatusReason();
  return why === undefined ? {} : said(`what became of its tasks cannot be read now: ${why}`);
}

function remarkOf(delay: DelayReason): Pick<Inspection, "remark" | "delay"> {
  return { remark: delayWords(delay), delay };
}

function said(words: string): Pick<Inspection, "remark" | "delay"> {
  return remarkOf({ code: "manager-says", words });
}

/** The same as JSON: `status` is always set. Where no AM answered and none left its last state, it is made from the ResourceManager's report. */
export function inspectionJson({ report, status, remark, delay }: Inspection, nowMs: number): StatusJson {
  return {
    status: status ?? statusOfReport(report, delay, nowMs),
    statusFrom: status === undefined ? "resource-manager" : "am",
    ...(status === undefined ? {} : { timeline: timelineOf(submitted(report, status)) }),
    report,
    ...(remark === undefined ? {} : { remark }),
  };
}

/** The same in lines for people. */
export function inspectionLines({ report, status, remark }: Inspection, nowMs: number): string[] {
  if (status?.outcome !== undefined && status.outcome.result !== "succeeded")
    return failureReport(status, status.outcome, durationMs(report, nowMs));
  if (status === undefined && masterFailure(report, nowMs) !== undefined)
    return [
      ...masterlessReport(report, outcomeOf(report, undefined, nowMs)),
      ...(remark === undefined ? [] : [remark]),
    ];
  return [headline(report, status, nowMs), ...body(report, status, remark, nowMs)];
}

function headline(report: ApplicationReport, status: JobStatus | undefined, nowMs: number): string {
  const state = hasEnded(report) ? finalState(report) : (status?.state ?? report.state);
  const queue = report.queue.slice(report.queue.lastIndexOf(".") + 1);
  const from = formatDate(report.startTimeMs);
  const took = durationWords(durationMs(report, nowMs));
  return [
    `${report.id}  ${report.name}`,
    state.toUpperCase(),
    `queue ${queue}`,
    `user ${report.user}`,
    hasEnded(report) ? `started ${from}, took ${took}` : `since ${from}, ${took}`,
  ].join(" · ");
}

function body(
  report: ApplicationReport,
  status: JobStatus | undefined,
  remark: string | undefined,
  nowMs: number,
): string[] {
  const url = report.trackingUrl === "" || report.trackingUrl === "N/A" ? [] : [`  ${report.trackingUrl}`];
  const why = remark === undefined ? [] : [`  ${remark}`];
  const said = report.diagnostics.trim();
  const diagnostics = hasEnded(report) && said !== "" && report.finalStatus !== "SUCCEEDED" ? [`  ${said}`] : [];
  return [
    ...url,
    ...why,
    ...diagnostics,
    ...(status === undefined ? [] : statusLines(submitted(report, status), nowMs)),
  ];
}

/** The ApplicationMaster of a job on this machine does not know when the job was submitted. */
function submitted({ startTimeMs }: ApplicationReport, status: JobStatus): JobStatus {
  return { submittedAtMs: startTimeMs, ...status };
}

function statusLines(status: JobStatus, nowMs: number): string[] {
  const waiting = waitingLines(status, nowMs);
  const waits = waiting.length === 0 ? [] : ["", ...waiting];
  const restarts = `${generationWords(status.generation, status)} · ${formatBudgets(status)}`;
  const checkpoint =
    status.checkpoint === undefined
      ? []
      : [`  checkpoint ${formatCheckpoint(status.checkpoint, { ...status, nowMs })}`];
  const resumed = status.resumeFrom === undefined ? [] : [`  began with ${status.resumeFrom}`];
  const { idle } = status;
  const still = idle === undefined ? [] : ["", `idle: ${idleWords(idle)}`, `  → ${idleRemedy(status.applicationId)}`];
  const dropped = status.droppedCheckpoint === undefined ? [] : [`  ${formatDropped(status.droppedCheckpoint)}`];
  const transfers = transferLines(status).map((line) => `  ${line}`);
  // A job's services end with it.
  const served = status.outcome === undefined ? status.services : [];
  const services = served.map(({ name, url, task }) => `  ${name} of ${task}: ${url}`);
  const feeds = feedLines(status).map((line) => `  ${line}`);
  const { search } = status;
  const trials = search === undefined ? [] : searchLines(status, search);
  const generations = generationTable(status);
  const history = generations.length === 0 ? [] : ["", ...generations];
  return [
    // Each trial has restarts of its own, and no generation belongs to the search as a whole.
    ...(search === undefined ? [`  ${restarts}`] : []),
    ...timeLines(status).map((line) => `  ${line}`),
    ...costLines(status).map((line) => `  ${line}`),
    ...trials,
    ...services,
    ...resumed,
    ...checkpoint,
    ...dropped,
    ...transfers,
    ...feeds,
    ...waits,
    ...still,
    "",
    ...taskLines(status),
    ...slowLines(status.tasks),
    ...gpuLines(status),
    // A separate command shows the best trials and their values.
    ...(search === undefined ? metricLines(status.tasks) : []),
    ...history,
  ];
}

/** How the job's time was spent: until its first generation, and in each stage. */
function timeLines(status: JobStatus): string[] {
  const { start, lanes } = timelineOf(status);
  const [only, another] = lanes;
  if (only === undefined) return [];
  if (another === undefined) return [totalWords([...start, ...only.spans])];
  return [totalWords(start), ...lanes.map(({ roles = [], spans }) => `${roles.join(", ")}: ${totalWords(spans)}`)];
}

function searchLines(status: JobStatus, search: SearchStatus): string[] {
  const trials = trialsOf(status, search);
  const counts = status.outcome === undefined ? countsLine(status, search, trials) : trialCounts(trials);
  const best = bestTrialWords(status, search);
  const { containerTime: time } = search;
  return [
    `  trials: ${trials.length === 0 ? "none has begun" : counts}`,
    ...(best === undefined ? [] : [`  ${best}`]),
    ...(time === undefined ? [] : [`  ${containerTimeWords(time)}`]),
  ];
}

/** When more tasks of a role than this wait, and nothing else is known of them, they share one row. */
const MOST_WAITING_ROWS = 3;

/** Of a search's trials only those that have begun. */
function taskLines(status: JobStatus): string[] {
  const { tasks, roles, search } = status;
  const shown =
    search === undefined
      ? foldedTasks(tasks)
      : tasks.filter(({ state, trial }) => state !== "waiting" || trial !== undefined);
  const rows = shown.map((task) => [
    spokenName(status, task.task),
    stateOf(task),
    task.host ?? "–",
    task.startedAtMs === undefined ? "–" : formatClock(task.startedAtMs),
    task.step === undefined ? "–" : String(task.step),
    task.checkpointStep === undefined ? "–" : `step ${task.checkpointStep}`,
    task.memoryBytes === undefined ? "–" : sizeWords(task.memoryBytes),
    memoryPeak(task, roles) ?? "–",
    task.cpuCores === undefined ? "–" : countWords(Number(task.cpuCores.toFixed(1)), "core"),
    formatExit(task.exit),
  ]);
  return formatTable([
    ["task", ...["state", "host", "start", "step", "checkpoint", "memory", "memory peak", "CPU", "exit"]],
    ...rows,
  ]);
}

/** While a trial does not run, its own state says more than its program's end. */
function stateOf({ state, trial }: TaskStatus): string {
  return trial === undefined || trial.state === "running" ? state : trial.state;
}

/** Every task separately; only a role's many waiting tasks as one: `worker:3 to worker:39`. */
function foldedTasks(tasks: readonly TaskStatus[]): readonly TaskStatus[] {
  const waiting = tasks.filter(isWaiting);
  const ofRole = (role: string | undefined) => waiting.filter(({ task }) => parseTaskId(task)?.role === role);
  const roles = [...new Set(waiting.map(({ task }) => parseTaskId(task)?.role))];
  const folded = roles.map(ofRole).filter(({ length }) => length > MOST_WAITING_ROWS);
  const heads = new Map(folded.map((own) => [own[0], taskSpans(own.map(({ task }) => task))]));
  const inside = new Set(folded.flat());
  return tasks.flatMap((task) => {
    const span = heads.get(task);
    if (span !== undefined) return [{ ...task, task: span }];
    return inside.has(task) ? [] : [task];
  });
}

function isWaiting({ state, host, startedAtMs, maxMemoryBytes, exit }: TaskStatus): boolean {
  const known = [host, startedAtMs, maxMemoryBytes, exit];
  return state === "waiting" && known.every((one) => one === undefined);
}

/** The tasks that fall behind, in the same words as the job's page: `  worker:1 runs at 32 % of the others' rate, on 127.0.0.12` */
function slowLines(tasks: readonly TaskStatus[]): string[] {
  const lines = tasks.flatMap(({ task, rate, host }) => {
    const where = host === undefined ? "" : `, on ${host}`;
    const isSlow = rate !== undefined && rate < SLOW_RATE;
    return isSlow ? [`  ${task} runs at ${Math.round(rate * 100)} % of the others' rate${where}`] : [];
  });
  return lines.length === 0 ? [] : ["", "slow:", ...lines];
}

/** The use of the GPUs: `  worker:0: 2 GPUs, 83% busy (at most 97%), 41% of their memory used (at most 60%)`. */
function gpuLines(status: JobStatus): string[] {
  const percent = (value: number) => `${Math.round(value)}%`;
  const words = (gauge: Gauge | undefined, what: string, isNow: boolean) => {
    if (gauge === undefined) return [];
    const most = `at most ${percent(gauge.max)}`;
    return [isNow ? `${percent(gauge.current)} ${what} (${most})` : `${most} ${what}`];
  };
  const lines = status.tasks.flatMap(({ task, state, gpus }) => {
    if (gpus === undefined) return [];
    const isNow = state === "running";
    const what = [words(gpus.utilization, "busy", isNow), words(gpus.memory, "of their memory used", isNow)];
    return [`  ${spokenName(status, task)}: ${[countWords(gpus.count, "GPU"), ...what.flat()].join(", ")}`];
  });
  return lines.length === 0 ? [] : ["", "GPUs:", ...lines];
}

/** Metrics that programs reported: `  worker:0 loss 0.4, accuracy 0.961`. */
function metricLines(tasks: readonly TaskStatus[]): string[] {
  const lines = tasks.flatMap(({ task, metrics }) =>
    metrics === undefined
      ? []
      : [
          `  ${task}: ${Object.entries(metrics)
            .map(([name, value]) => `${name} ${Number(value.toPrecision(6))}`)
            .join(", ")}`,
        ],
  );
  return lines.length === 0 ? [] : ["", "reported:", ...lines];
}

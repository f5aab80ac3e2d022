import { createHash } from "node:crypto";
import type { TaskSeries } from "../history/series/table.ts";
import { costWords } from "../job/cost.ts";
import { feedLines } from "../job/feeds/feed-lines.ts";
import { gpusNow } from "../job/gpus.ts";
import type { HistoryEvent } from "../job/history-event.ts";
import { endingWords } from "../job/reasons/endings.ts";
import { heldWords } from "../job/reasons/words.ts";
import { idleWords } from "../job/search/container-time.ts";
import {
  bestOf,
  countsLine,
  parametersOf,
  reported,
  standing,
  type TrialJson,
  trialsOf,
} from "../job/search/trial-list.ts";
import { saidWithinTrial } from "../job/search/trial-tasks.ts";
import { searchLine, valueWords } from "../job/search/words.ts";
import type { JobOutcome, JobStatus, SearchStatus, TaskStatus } from "../job/status.ts";
import type { LiveRequest, SortColumn } from "./live-request.ts";
import type { EventLine, ShownAdvice } from "./portal-answers.ts";
import { relativeRates } from "./relative-rates.ts";
import { roleSeries } from "./role-series.ts";

/** So many of the last are shown. */
export const SHOWN_EVENTS = 200;
/** A job writes what it likes into its own history. */
const MOST_WORDS = 1_000;
/** So many of the best trials are shown: the table has all of them. */
const SHOWN_TRIALS = 20;

/** What the page is told of, besides the job's status. */
export interface PageFacts {
  readonly user: string;
  /** Steps in a second of a task; undefined where it reports none. Absent: the status of a job that runs tells how fast each task goes. */
  readonly rateOf?: (task: string) => number | undefined;
  readonly seriesOf: (task: string) => PageSeries;
  /** The oldest first. */
  readonly events: readonly HistoryEvent[];
  /** What it says about its next run; absent: not asked for. */
  readonly advice?: ShownAdvice;
  /** What there is to read of its logs: as they grow, or as nodes have stored them; absent: nothing. */
  readonly logs?: "live" | "stored";
}

export interface PageSeries {
  readonly fromMs: number;
  readonly spanMs: number;
  readonly series: readonly TaskSeries[];
}

/**
 * What an answer holds. Whoever has not proved that he may see the job is told what YARN tells everybody of an application
 * (`yarn application -status`): nothing of tasks, waits or failures.
 */
export function liveAnswer(status: JobStatus, facts: PageFacts, request: LiveRequest, mayLook: boolean): object {
  const { nowMs } = status;
  const body = { job: jobOf(status, facts), ...(mayLook ? whole(status, facts, request) : {}) };
  const rev = revisionOf(body);
  return rev === request.since ? { rev, nowMs } : { rev, nowMs, mayLook, ...body };
}

/** Another one for other facts, so that a page needs not be told twice; an attempt that knows no revisions of an earlier one makes the same. */
function revisionOf(body: object): number {
  const hash = createHash("sha256").update(JSON.stringify(body)).digest();
  return hash.readUIntBE(0, 6);
}

function jobOf({ applicationId, attempt, name, queue, state, startedAtMs }: JobStatus, { user }: PageFacts) {
  return { applicationId, attempt, name, queue, user, state: yarnState(state), startedAtMs };
}

/** As YARN has it: an application that runs is RUNNING, whatever its tasks do. */
export function yarnState(state: JobStatus["state"]): JobOutcome["result"] | "running" {
  return state === "succeeded" || state === "failed" || state === "killed" ? state : "running";
}

function whole(status: JobStatus, facts: PageFacts, request: LiveRequest) {
  const { state, generation, roles, waits, generations, services, budgets, checkpoint, outcome, amHost, usage } =
    status;
  const { submittedAtMs, takeovers } = status;
  const rates = facts.rateOf && relativeRates(status, facts.rateOf);
  const rows = status.tasks
    .map((task) => ({ task, rate: rates === undefined ? task.rate : rates.get(task.task) }))
    .filter(shownBy(request.filter));
  const sorted = sortedBy(rows, request);
  const from = Math.min(request.from, Math.max(0, sorted.length - 1));
  return {
    status: {
      state,
      generation,
      roles,
      submittedAtMs,
      generations,
      takeovers,
      services,
      budgets,
      amHost,
      checkpoint,
      outcome,
      use: useOf(usage),
    },
    feeds: feedsOf(status),
    search: searchOf(status),
    waits: waits.map(({ what, sinceMs, reasons, remedy, endsAtMs, atEnd }) => {
      return { what, sinceMs, reasons, remedy, endsAtMs, atEnd };
    }),
    tasks: {
      all: status.tasks.length,
      matching: sorted.length,
      from,
      rows: sorted.slice(from, from + request.count).map(cells),
    },
    events: facts.events.slice(-SHOWN_EVENTS).map(eventLine),
    ...(facts.advice === undefined ? {} : { advice: facts.advice }),
    ...(facts.logs === undefined ? {} : { logs: facts.logs }),
    ...(request.task === "" ? {} : { chart: { task: request.task, ...chartOf(status, facts, request.task) } }),
  };
}

/** @param what a task, or a role: all of its tasks as one */
function chartOf({ tasks, roles }: JobStatus, { seriesOf }: PageFacts, what: string): PageSeries {
  if (!roles.some(({ name }) => name === what)) return seriesOf(what);
  const own = tasks.filter(({ task }) => task.startsWith(`${what}:`)).map(({ task }) => seriesOf(task));
  const { fromMs, spanMs } = own[0] ?? seriesOf(what);
  return { fromMs, spanMs, series: roleSeries(own.map(({ series }) => series)) };
}

/** In the words of `tony-ts status`. */
function feedsOf({ feeds = [], nowMs }: JobStatus) {
  return feeds.map((feed) => {
    const { name, used, leftOut, splits } = feed;
    return { name, used, leftOut, splits, lines: feedLines({ feeds: [feed], nowMs }) };
  });
}

function searchOf(status: JobStatus) {
  const { search } = status;
  if (search === undefined) return undefined;
  const trials = trialsOf(status, search);
  const best = bestOf(trials);
  const { containerTime, ...rest } = search;
  const { parameters, space = [] } = rest;
  return {
    metric: search.metric,
    ...rulesOf(search, status.tasks.length),
    space: parameters.map((name, at) => ({ name, values: space[at] ?? "" })),
    ...(containerTime === undefined ? {} : { idle: idleWords(containerTime) }),
    // What is idle is said in its parts.
    counts: countsLine(status, rest, trials),
    ...(best === undefined ? {} : { best: `trial ${best.number} · ${standing(best, search)}` }),
    begun: trials.length,
    trials: shownOf(trials).map((trial) => {
      const { number, task, state, step, why } = trial;
      const told = why === undefined ? {} : { why: saidWithinTrial(status, why).slice(0, MOST_WORDS) };
      return { number, task, state, step, value: standingValue(trial), params: parametersOf(trial, search), ...told };
    }),
  };
}

/** The best ones, and as many of those that run. */
function shownOf(trials: readonly TrialJson[]): readonly TrialJson[] {
  const others = trials.slice(SHOWN_TRIALS).filter(({ state }) => state === "running");
  return [...trials.slice(0, SHOWN_TRIALS), ...others.slice(0, SHOWN_TRIALS)];
}

/** How it is made; nothing of an ApplicationMaster that has not told it. */
function rulesOf(search: SearchStatus, tasks: number): { readonly rules?: string } {
  const { algorithm, stop, maxParallel, trials: maxTrials = tasks } = search;
  if (algorithm === undefined || stop === undefined || maxParallel === undefined) return {};
  return { rules: searchLine({ ...search, algorithm, stop, maxParallel, maxTrials }) };
}

/** Of one that runs it is not the last. */
function standingValue(trial: TrialJson): string {
  const value = reported(trial);
  return `${valueWords(value)}${trial.state === "running" && value !== undefined ? " so far" : ""}`;
}

/** In two digits: of a job that does nothing the page is not told each second that it holds its containers. */
function useOf(usage: JobStatus["usage"]) {
  return { held: heldWords(usage), ...(usage.cost === undefined ? {} : { cost: costWords(usage.cost) }) };
}

interface Row {
  readonly task: TaskStatus;
  /** Its steps in a second against the median of its role; undefined where it reports none. */
  readonly rate: number | undefined;
}

function cells({ task: one, rate }: Row) {
  const { task, state, host, restarts, exit, step, cpuCores, memoryBytes, maxMemoryBytes, metrics } = one;
  const gpu = gpusNow(one)?.utilization?.current;
  return { task, state, host, restarts, exit, step, cpuCores, memoryBytes, maxMemoryBytes, gpu, metrics, rate };
}

function shownBy(filter: string): (row: Row) => boolean {
  const wanted = filter.toLowerCase();
  return ({ task: { task, host = "", state } }) =>
    [task, host, state].some((text) => text.toLowerCase().includes(wanted));
}

const cellOf: Readonly<Record<Exclude<SortColumn, "task">, (row: Row) => string | number | undefined>> = {
  state: ({ task }) => task.state,
  host: ({ task }) => task.host,
  restarts: ({ task }) => task.restarts,
  cpu: ({ task }) => task.cpuCores,
  memory: ({ task }) => task.memoryBytes,
  gpu: ({ task }) => gpusNow(task)?.utilization?.current,
  step: ({ task }) => task.step,
  rate: ({ rate }) => rate,
};

/** Those without a value come last either way. Tasks of equal value stay in the order that they have in the job. */
function sortedBy(rows: readonly Row[], { sort, descending }: LiveRequest): readonly Row[] {
  if (sort === "task") return descending ? rows.toReversed() : rows;
  const value = cellOf[sort];
  return rows.toSorted((a, b) => {
    const [ofA, ofB] = [value(a), value(b)];
    if (ofA === ofB) return 0;
    if (ofA === undefined || ofB === undefined) return ofA === undefined ? 1 : -1;
    return ofA < ofB === descending ? 1 : -1;
  });
}

export function eventLine(event: HistoryEvent): EventLine {
  const { atMs, generation, task } = event;
  return { atMs, generation, ...(task === undefined ? {} : { task }), text: wordsOf(event).slice(0, MOST_WORDS) };
}

/** `task ended: exit 3, result failed` */
function wordsOf(event: HistoryEvent): string {
  if (event.type === "task-failed") return `task failed (${event.class}): ${endingWords(event.reason)}`;
  if (event.type === "job-ended") return `job ended (${event.result}): ${event.summary}`;
  const { type, atMs: _atMs, generation: _generation, task: _task, containerId: _containerId, ...facts } = event;
  const words = Object.entries(facts).map(([name, value]) => `${name} ${value}`);
  return [type.replaceAll("-", " "), ...(words.length === 0 ? [] : [words.join(", ")])].join(": ");
}

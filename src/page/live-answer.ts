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

/** At most so many of the last events are shown. */
export const SHOWN_EVENTS = 200;
/** A job can write anything into its own history. */
const MOST_WORDS = 1_000;
/** At most so many of the best trials are shown: the table has all of them. */
const SHOWN_TRIALS = 20;

/** What the page shows in addition to the job's status. */
export interface PageFacts {
  readonly user: string;
  /** A task's steps per second; undefined where it reports none. Absent: a running job's status has the rate of each task. */
  readonly rateOf?: (task: string) => number | undefined;
  readonly seriesOf: (task: string) => PageSeries;
  /** The oldest first. */
  readonly events: readonly HistoryEvent[];
  /** Advice on the job's next run; absent: not requested. */
  readonly advice?: ShownAdvice;
  /** Which logs can be read: as they grow, or as nodes have stored them; absent: none. */
  readonly logs?: "live" | "stored";
}

export interface PageSeries {
  readonly fromMs: number;
  readonly spanMs: number;
  readonly series: readonly TaskSeries[];
}

/**
 * The content of an answer. A viewer who has not proved that he may see the job gets only what YARN shows everybody about
 * an application (`yarn application -status`): nothing about tasks, waits or failures.
 */
export function liveAnswer(status: JobStatus, facts: PageFacts, request: LiveRequest, mayLook: boolean): object {
  const { nowMs } = status;
  const body = { job: jobOf(status, facts), ...(mayLook ? whole(status, facts, request) : {}) };
  const rev = revisionOf(body);
  return rev === request.since ? { rev, nowMs } : { rev, nowMs, mayLook, ...body };
}

/**
 * Differs for different facts, so that a page need not get the same answer twice; an AM attempt that does not know its predecessor's
 * revisions computes the same one.
 */
function revisionOf(body: object): number {
  const hash = createHash("sha256").update(JSON.stringify(body)).digest();
  return hash.readUIntBE(0, 6);
}

function jobOf({ applicationId, attempt, name, queue, state, startedAtMs }: JobStatus, { user }: PageFacts) {
  return { applicationId, attempt, name, queue, user, state: yarnState(state), startedAtMs };
}

/** YARN's state: an application that runs is RUNNING, whatever its tasks do. */
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

/** @param what a task, or a role: all its tasks combined */
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
    // Without the container time, whose idle part is shown separately.
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

/** The best ones, and equally many running ones. */
function shownOf(trials: readonly TrialJson[]): readonly TrialJson[] {
  const others = trials.slice(SHOWN_TRIALS).filter(({ state }) => state === "running");
  return [...trials.slice(0, SHOWN_TRIALS), ...others.slice(0, SHOWN_TRIALS)];
}

/** How the search chooses trials; absent where an ApplicationMaster has not reported it. */
function rulesOf(search: SearchStatus, tasks: number): { readonly rules?: string } {
  const { algorithm, stop, maxParallel, trials: maxTrials = tasks } = search;
  if (algorithm === undefined || stop === undefined || maxParallel === undefined) return {};
  return { rules: searchLine({ ...search, algorithm, stop, maxParallel, maxTrials }) };
}

/** A running trial's value is not its last one. */
function standingValue(trial: TrialJson): string {
  const value = reported(trial);
  return `${valueWords(value)}${trial.state === "running" && value !== undefined ? " so far" : ""}`;
}

/** Rounded to two digits: otherwise a job that does nothing would change every second, because it holds its containers. */
function useOf(usage: JobStatus["usage"]) {
  return { held: heldWords(usage), ...(usage.cost === undefined ? {} : { cost: costWords(usage.cost) }) };
}

interface Row {
  readonly task: TaskStatus;
  /** Its steps per second relative to the median of its role; undefined where it reports none. */
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

/** Rows without a value come last in both directions. Tasks of equal value keep the job's order. */
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

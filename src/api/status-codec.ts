import type { Cost, Usage } from "../job/cost.ts";
import type { Checkpoint } from "../job/execution.ts";
import type { Idle } from "../job/idle.ts";
import type { NonFinite } from "../job/program-metrics.ts";
import { endingReasons } from "../job/reasons/endings.ts";
import { readSetting, type Setting } from "../job/reasons/facts.ts";
import { masterReasons } from "../job/reasons/master.ts";
import { outcomeReasons } from "../job/reasons/outcomes.ts";
import { reasonShape } from "../job/reasons/reason.ts";
import { remedies } from "../job/reasons/remedies.ts";
import { delayReasons, waitReasons } from "../job/reasons/waits.ts";
import type { ContainerTime } from "../job/search/container-time.ts";
import {
  type Direction,
  type Budget as Rungs,
  type Search,
  type TrialState,
  trialStates,
} from "../job/search/trials.ts";
import { arrayOf, type Shape, string } from "../job/shape.ts";
import type {
  Budget,
  Budgets,
  Cause,
  DroppedCheckpoint,
  FailureClass,
  FeedReaderStatus,
  FeedStatus,
  GenerationSummary,
  JobOutcome,
  JobState,
  JobStatus,
  RoleBudget,
  RoleStatus,
  SearchStatus,
  SplitFailure,
  Takeover,
  TaskState,
  TaskStatus,
  TrialStatus,
  Wait,
} from "../job/status.ts";
import {
  amounts,
  converted,
  flag,
  type Kind,
  many,
  maybe,
  message,
  one,
  real,
  signed,
  some,
  someAmounts,
  someTexts,
  someWholes,
  text,
  whole,
  word,
} from "./fields.ts";
import { diskUse, gpuMetrics, transfer } from "./generated/codecs.ts";

/** The messages of proto/tony/status.proto. */

interface Fact {
  readonly name: string;
  readonly text?: string;
  readonly number?: number;
  readonly flag?: boolean;
  readonly setting?: Setting;
  readonly settings?: readonly Setting[];
  readonly names?: readonly string[];
}

const setting = message<Setting>({ key: one(1, text), at: maybe(2, text) });
const fact = message<Fact>({
  name: one(1, text),
  text: maybe(2, text),
  number: maybe(3, real),
  flag: maybe(4, flag),
  setting: maybe(5, setting),
  settings: some(6, setting),
  names: some(7, text),
});
const facts = message<{ readonly code: string; readonly facts: readonly Fact[] }>({
  code: one(1, text),
  facts: many(2, fact),
});

/** A reason of one family, given how it is read from JSON. */
function reasonOf<R extends { readonly code: string }>(read: Shape<R>): Kind<R> {
  return converted(facts, {
    toWire: (reason) => ({ code: reason.code, facts: Object.entries<unknown>({ ...reason }).flatMap(factOf) }),
    fromWire({ code, facts: told }) {
      const values = told.map((it) => [
        it.name,
        it.text ?? it.number ?? it.flag ?? it.setting ?? it.settings ?? it.names ?? [],
      ]);
      return read({ code, ...Object.fromEntries(values) }, "reason");
    },
  });
}

function factOf([name, value]: readonly [string, unknown]): Fact[] {
  if (name === "code" || value === undefined) return [];
  if (typeof value === "string") return [{ name, text: value }];
  if (typeof value === "number") return [{ name, number: value }];
  if (Array.isArray(value)) return [listFact(name, value)];
  return [typeof value === "boolean" ? { name, flag: value } : { name, setting: readSetting(value, name) }];
}

function listFact(name: string, values: readonly unknown[]): Fact {
  const [first] = values;
  if (first === undefined) return { name };
  return typeof first === "string"
    ? { name, names: arrayOf(string)(values, name) }
    : { name, settings: arrayOf(readSetting)(values, name) };
}

const failureClass = word<FailureClass>("program", "infrastructure");
const ending = reasonOf(reasonShape(endingReasons));

const consequence = message<Cause["followed"][number]>({
  reason: one(1, ending),
  relation: one(2, word("consequence", "not-counted", "also-failed", "possible-consequence")),
  laterMs: one(3, signed),
});
const cause = message<Cause>({
  class: one(1, failureClass),
  generation: maybe(2, whole),
  reason: one(3, reasonOf(reasonShape({ ...endingReasons, ...masterReasons }))),
  summary: one(4, text),
  task: maybe(5, text),
  host: maybe(6, text),
  containerId: maybe(7, text),
  exit: maybe(8, text),
  atMs: one(9, whole),
  lines: many(10, text),
  remedy: maybe(11, text),
  fix: maybe(12, reasonOf(reasonShape(remedies))),
  consequences: many(13, text),
  followed: many(14, consequence),
});

export const jobOutcome = message<JobOutcome>({
  result: one(1, word("succeeded", "failed", "killed")),
  summary: one(2, text),
  cause: maybe(3, cause),
  rule: maybe(4, text),
  reason: one(5, reasonOf(reasonShape(outcomeReasons))),
  endedAtMs: one(6, whole),
});

const role = message<RoleStatus>({
  name: one(1, text),
  instances: one(2, whole),
  allocated: one(3, whole),
  registered: one(4, whole),
  running: one(5, whole),
  ended: one(6, whole),
  memoryMiB: one(7, real),
  vcores: one(8, real),
  others: amounts(9),
  nodeLabel: maybe(10, text),
});

const taskState = word<TaskState>(
  "waiting",
  "allocated",
  "launched",
  "registered",
  "running",
  "succeeded",
  "failed",
  "stopped",
  "lost",
);
const task = message<TaskStatus>({
  task: one(1, text),
  state: one(2, taskState),
  host: maybe(3, text),
  port: maybe(4, whole),
  containerId: maybe(5, text),
  nodeHttpAddress: maybe(6, text),
  startedAtMs: maybe(7, whole),
  endedAtMs: maybe(8, whole),
  exit: maybe(9, text),
  step: maybe(10, whole),
  checkpointStep: maybe(11, whole),
  transfers: some(12, transfer),
  memoryBytes: maybe(13, whole),
  maxMemoryBytes: maybe(14, whole),
  cpuCores: maybe(15, real),
  restarts: one(16, whole),
  restartReason: maybe(17, text),
  ports: someWholes(18),
  metrics: someAmounts(19),
  gpus: maybe(20, gpuMetrics),
  params: someTexts(21),
  trial: maybe(
    22,
    message<TrialStatus>({
      state: one(1, word<TrialState>(...trialStates)),
      why: maybe(2, text),
      checkpoint: maybe(3, text),
      nonFinite: maybe(4, word<NonFinite>("NaN", "Infinity", "-Infinity")),
      lines: some(5, text),
      application: maybe(6, text),
    }),
  ),
  disk: maybe(23, diskUse),
  rate: maybe(24, real),
});

const wait = message<Wait>({
  cause: one(1, text),
  what: one(2, text),
  sinceMs: one(3, whole),
  reasons: many(4, text),
  remedy: maybe(5, text),
  endsAtMs: maybe(6, whole),
  atEnd: maybe(7, text),
  reason: one(8, reasonOf(reasonShape(waitReasons))),
  delays: many(9, reasonOf(reasonShape(delayReasons))),
  fix: maybe(10, reasonOf(reasonShape(remedies))),
});

const checkpoint = message<Checkpoint>({ path: one(1, text), step: one(2, whole), atMs: one(3, whole) });
const generation = message<GenerationSummary>({
  generation: one(1, whole),
  startedAtMs: one(2, whole),
  runningAtMs: maybe(3, whole),
  endedAtMs: maybe(4, whole),
  endedBy: maybe(5, cause),
  resumedFrom: maybe(6, checkpoint),
  roles: some(7, text),
  allocatedAtMs: maybe(8, whole),
  localizedAtMs: maybe(9, whole),
  registeredAtMs: maybe(10, whole),
});

const budget = message<Budget>({ used: one(1, whole), limit: one(2, whole), windowMs: maybe(3, whole) });
const roleBudget = message<RoleBudget>({ role: one(1, text), used: one(2, whole), limit: one(3, whole) });

const feed = message<FeedStatus>({
  name: one(1, text),
  epoch: one(2, whole),
  epochs: maybe(3, whole),
  splits: one(4, whole),
  used: one(5, whole),
  leftOut: one(6, whole),
  failures: many(
    7,
    message<SplitFailure>({
      split: one(1, whole),
      path: one(2, text),
      start: one(3, whole),
      end: one(4, whole),
      reason: one(5, text),
    }),
  ),
  triedAgain: one(8, whole),
  output: maybe(9, text),
  watermarkMs: maybe(11, whole),
  readers: many(
    10,
    message<FeedReaderStatus>({
      task: one(1, text),
      splits: one(2, whole),
      rows: one(3, whole),
      sinceMs: one(4, whole),
      usedAtMs: one(5, whole),
      isDone: one(6, flag),
    }),
  ),
});

export const jobStatus = message<JobStatus>({
  statusVersion: one(1, converted(whole, { toWire: (version) => version, fromWire: versionOne })),
  applicationId: one(2, text),
  attempt: one(3, whole),
  name: one(4, text),
  queue: one(5, text),
  state: one(
    6,
    word<JobState>("starting", "gathering", "running", "restarting", "finishing", "succeeded", "failed", "killed"),
  ),
  generation: one(7, whole),
  distributedMode: maybe(22, word<"fcfs">("fcfs")),
  submittedAtMs: maybe(27, whole),
  startedAtMs: one(8, whole),
  nowMs: one(9, whole),
  amHost: one(10, text),
  amContainerId: maybe(11, text),
  roles: many(12, role),
  tasks: many(13, task),
  waits: many(14, wait),
  generations: many(15, generation),
  budgets: one(
    16,
    message<Budgets>({ program: one(1, budget), infrastructure: one(2, budget), roles: some(3, roleBudget) }),
  ),
  services: many(
    17,
    message<JobStatus["services"][number]>({ name: one(1, text), url: one(2, text), task: one(3, text) }),
  ),
  checkpoint: maybe(18, checkpoint),
  droppedCheckpoint: maybe(
    19,
    message<DroppedCheckpoint>({ path: one(1, text), step: one(2, whole), atMs: one(3, whole), task: one(4, text) }),
  ),
  usage: one(
    20,
    message<Usage>({
      memoryMiBSeconds: one(1, real),
      vcoreSeconds: one(2, real),
      gpuSeconds: maybe(3, real),
      cost: maybe(4, message<Cost>({ amount: one(1, real), currency: maybe(2, text) })),
    }),
  ),
  outcome: maybe(21, jobOutcome),
  resumeFrom: maybe(23, text),
  feeds: some(26, feed),
  takeovers: some(28, message<Takeover>({ attempt: one(1, whole), atMs: one(2, whole) })),
  search: maybe(
    25,
    message<SearchStatus>({
      metric: one(1, text),
      direction: one(2, word<Direction>("minimize", "maximize")),
      parameters: many(3, text),
      command: one(4, text),
      jobFile: maybe(5, text),
      space: some(6, text),
      outputDir: maybe(7, text),
      trials: maybe(9, whole),
      givenKeys: some(10, text),
      algorithm: maybe(11, word<Search["algorithm"]>("tpe", "random", "grid", "evolution", "optuna")),
      stop: maybe(12, word<Search["stop"]>("none", "median", "asha", "asha-promotion", "hyperband")),
      budget: maybe(13, message<Rungs>({ min: one(1, whole), max: one(2, whole), factor: one(3, whole) })),
      maxParallel: maybe(14, whole),
      containerTime: maybe(
        8,
        message<ContainerTime>({
          heldMs: one(1, whole),
          startMs: one(2, whole),
          handOverMs: one(3, whole),
          barrierMs: one(4, whole),
          afterLastMs: one(5, whole),
        }),
      ),
    }),
  ),
  idle: maybe(
    24,
    message<Idle>({
      tasks: many(1, text),
      sinceMs: one(2, whole),
      untilMs: one(3, whole),
      cpuMs: one(4, whole),
      gpus: one(5, whole),
    }),
  ),
});

function versionOne(version: number): 1 {
  if (version !== 1) throw new RangeError(`a status of version ${version}`);
  return 1;
}

import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { jobOutcome, jobStatus } from "../../src/api/status-codec.ts";
import type { Checkpoint } from "../../src/job/execution.ts";
import type { NonFinite } from "../../src/job/program-metrics.ts";
import { type EndingReason, endingReasons } from "../../src/job/reasons/endings.ts";
import type { FactKinds } from "../../src/job/reasons/facts.ts";
import { masterReasons } from "../../src/job/reasons/master.ts";
import { outcomeReasons } from "../../src/job/reasons/outcomes.ts";
import { type ReasonOf, type ReasonTable, reasonShape } from "../../src/job/reasons/reason.ts";
import { remedies } from "../../src/job/reasons/remedies.ts";
import { delayReasons, waitReasons } from "../../src/job/reasons/waits.ts";
import type { Direction, Search, TrialState } from "../../src/job/search/trials.ts";
import {
  type Cause,
  type FeedStatus,
  type JobOutcome,
  type JobState,
  type JobStatus,
  type RoleStatus,
  type TaskState,
  type TaskStatus,
  type Transfer,
  type TrialStatus,
  transferKinds,
  transferStates,
  type Wait,
} from "../../src/job/status.ts";
import { tonyProto } from "../support/tony-proto.ts";

const text = fc.string({ unit: "binary" });
const count = fc.nat();
/** Times and sizes: beyond 32 bits, within what a number holds. */
const large = fc.maxSafeNat();
const real = fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 }).map((value) => value + 0);
const list = <T>(item: fc.Arbitrary<T>) => fc.array(item, { maxLength: 3 });
/** Every word of a type: the compiler says when one is missing. */
const wordOf = <W extends string>(words: Record<W, true>) => fc.constantFrom(...(Object.keys(words) as W[]));

const setting = fc.record({ key: text, at: text }, { requiredKeys: ["key"] });
const values: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  text,
  number: fc.oneof(fc.integer(), real),
  flag: fc.boolean(),
  class: fc.constantFrom("program", "infrastructure"),
  setting,
  settings: fc.array(setting, { maxLength: 2 }),
  names: list(text),
};

/** Any reason of the family, with or without what may be unknown. */
function reasonOf<T extends ReasonTable>(table: T): fc.Arbitrary<ReasonOf<T>> {
  const read = reasonShape(table);
  const each = Object.entries(table).map(([code, { facts }]) =>
    factsOf(facts).map((known) => read({ code, ...known }, "")),
  );
  return fc.oneof(...each);
}

function factsOf(facts: FactKinds): fc.Arbitrary<object> {
  const named = Object.entries(facts).map(([name, kind]) => [name, String(kind)] as const);
  const fields: Record<string, fc.Arbitrary<unknown>> = {};
  for (const [name, kind] of named) fields[name] = values[kind.replace("?", "")] ?? text;
  const requiredKeys = named.flatMap(([name, kind]) => (kind.endsWith("?") ? [] : [name]));
  return fc.record(fields, { requiredKeys });
}

const ending: fc.Arbitrary<EndingReason> = reasonOf(endingReasons);

const cause: fc.Arbitrary<Cause> = fc.record(
  {
    class: wordOf<Cause["class"]>({ program: true, infrastructure: true }),
    generation: count,
    reason: fc.oneof(ending, reasonOf(masterReasons)),
    summary: text,
    task: text,
    host: text,
    containerId: text,
    exit: text,
    atMs: large,
    lines: list(text),
    remedy: text,
    fix: reasonOf(remedies),
    consequences: list(text),
    followed: list(
      fc.record({
        reason: ending,
        relation: wordOf<Cause["followed"][number]["relation"]>({
          consequence: true,
          "not-counted": true,
          "also-failed": true,
          "possible-consequence": true,
        }),
        laterMs: fc.maxSafeInteger().map((ms) => ms + 0),
      }),
    ),
  },
  { requiredKeys: ["class", "reason", "summary", "atMs", "lines", "consequences", "followed"] },
);

const outcome: fc.Arbitrary<JobOutcome> = fc.record(
  {
    result: wordOf<JobOutcome["result"]>({ succeeded: true, failed: true, killed: true }),
    summary: text,
    cause,
    rule: text,
    reason: reasonOf(outcomeReasons),
    endedAtMs: large,
  },
  { requiredKeys: ["result", "summary", "reason", "endedAtMs"] },
);

const role: fc.Arbitrary<RoleStatus> = fc.record(
  {
    name: text,
    instances: count,
    allocated: count,
    registered: count,
    running: count,
    ended: count,
    memoryMiB: real,
    vcores: real,
    others: fc.dictionary(fc.string(), real, { noNullPrototype: true }),
    nodeLabel: text,
  },
  {
    requiredKeys: ["name", "instances", "allocated", "registered", "running", "ended", "memoryMiB", "vcores", "others"],
  },
);

const transfer: fc.Arbitrary<Transfer> = fc.record({
  what: fc.constantFrom(...transferKinds),
  state: fc.constantFrom(...transferStates),
  url: text,
  files: large,
  bytes: large,
  step: large,
  atMs: large,
  reason: text,
});

const gauge = fc.record({ current: real, max: real, average: real });
const trial: fc.Arbitrary<TrialStatus> = fc.record(
  {
    state: wordOf<TrialState>({
      running: true,
      paused: true,
      completed: true,
      stopped: true,
      failed: true,
      interrupted: true,
    }),
    why: text,
    checkpoint: text,
    nonFinite: wordOf<NonFinite>({ NaN: true, Infinity: true, "-Infinity": true }),
    lines: fc.array(text, { minLength: 1, maxLength: 3 }),
    application: text,
  },
  { requiredKeys: ["state"] },
);

const task: fc.Arbitrary<TaskStatus> = fc.record(
  {
    task: text,
    state: wordOf<TaskState>({
      waiting: true,
      allocated: true,
      launched: true,
      registered: true,
      running: true,
      succeeded: true,
      failed: true,
      stopped: true,
      lost: true,
    }),
    host: text,
    port: count,
    containerId: text,
    nodeHttpAddress: text,
    startedAtMs: large,
    endedAtMs: large,
    exit: text,
    step: large,
    checkpointStep: large,
    transfers: fc.array(transfer, { minLength: 1, maxLength: 2 }),
    memoryBytes: large,
    maxMemoryBytes: large,
    cpuCores: real,
    rate: real,
    restarts: count,
    restartReason: text,
    gpus: fc.record(
      {
        count,
        unused: count,
        utilization: gauge,
        memory: gauge,
        bar1Memory: gauge,
        devices: fc.array(fc.record({ utilization: real, memory: real }, { requiredKeys: [] }), { minLength: 1 }),
      },
      { requiredKeys: ["count"] },
    ),
    disk: fc.record({ readBytesPerSecond: real, writtenBytesPerSecond: real }),
    metrics: fc.dictionary(fc.string(), real, { noNullPrototype: true, minKeys: 1 }),
    params: fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true, minKeys: 1 }),
    trial,
  },
  { requiredKeys: ["task", "state", "restarts"] },
);

const wait: fc.Arbitrary<Wait> = fc.record(
  {
    reason: reasonOf(waitReasons),
    cause: text,
    what: text,
    sinceMs: large,
    delays: list(reasonOf(delayReasons)),
    reasons: list(text),
    remedy: text,
    fix: reasonOf(remedies),
    endsAtMs: large,
    atEnd: text,
  },
  { requiredKeys: ["reason", "cause", "what", "sinceMs", "delays", "reasons"] },
);

const checkpoint: fc.Arbitrary<Checkpoint> = fc.record({ path: text, step: large, atMs: large });
const budget = fc.record({ used: count, limit: count });
const roleBudget = fc.record({ used: count, limit: count, role: text });

const feed: fc.Arbitrary<FeedStatus> = fc.record(
  {
    name: text,
    epoch: large,
    epochs: large,
    splits: large,
    used: large,
    leftOut: large,
    failures: list(fc.record({ split: large, path: text, start: large, end: large, reason: text })),
    triedAgain: large,
    output: text,
    watermarkMs: large,
    readers: list(
      fc.record({
        task: text,
        splits: large,
        rows: large,
        sinceMs: large,
        usedAtMs: large,
        isDone: fc.boolean(),
      }),
    ),
  },
  { requiredKeys: ["name", "epoch", "splits", "used", "leftOut", "failures", "triedAgain", "readers"] },
);

const status: fc.Arbitrary<JobStatus> = fc.record(
  {
    statusVersion: fc.constant(1 as const),
    applicationId: text,
    attempt: count,
    name: text,
    queue: text,
    state: wordOf<JobState>({
      starting: true,
      gathering: true,
      running: true,
      restarting: true,
      finishing: true,
      succeeded: true,
      failed: true,
      killed: true,
    }),
    generation: count,
    submittedAtMs: large,
    startedAtMs: large,
    nowMs: large,
    amHost: text,
    amContainerId: text,
    roles: list(role),
    tasks: list(task),
    waits: list(wait),
    generations: list(
      fc.record(
        {
          generation: count,
          startedAtMs: large,
          allocatedAtMs: large,
          localizedAtMs: large,
          registeredAtMs: large,
          runningAtMs: large,
          endedAtMs: large,
          endedBy: cause,
          resumedFrom: checkpoint,
        },
        { requiredKeys: ["generation", "startedAtMs"] },
      ),
    ),
    takeovers: fc.array(fc.record({ attempt: count, atMs: large }), { minLength: 1, maxLength: 3 }),
    budgets: fc.record(
      { program: budget, infrastructure: budget, roles: fc.array(roleBudget, { minLength: 1, maxLength: 3 }) },
      { requiredKeys: ["program", "infrastructure"] },
    ),
    services: list(fc.record({ name: text, url: text, task: text })),
    checkpoint,
    droppedCheckpoint: fc.record({ path: text, step: large, atMs: large, task: text }),
    usage: fc.record(
      {
        memoryMiBSeconds: real,
        vcoreSeconds: real,
        gpuSeconds: real,
        cost: fc.record({ amount: real, currency: text }, { requiredKeys: ["amount"] }),
      },
      { requiredKeys: ["memoryMiBSeconds", "vcoreSeconds"] },
    ),
    idle: fc.record({ tasks: list(text), sinceMs: large, untilMs: large, cpuMs: large, gpus: count }),
    feeds: fc.array(feed, { minLength: 1, maxLength: 2 }),
    search: fc.record(
      {
        metric: text,
        direction: wordOf<Direction>({ minimize: true, maximize: true }),
        parameters: list(text),
        command: text,
        jobFile: text,
        space: fc.array(text, { minLength: 1, maxLength: 3 }),
        givenKeys: fc.array(text, { minLength: 1, maxLength: 3 }),
        outputDir: text,
        algorithm: wordOf<Search["algorithm"]>({ tpe: true, random: true, grid: true, evolution: true, optuna: true }),
        stop: wordOf<Search["stop"]>({ none: true, median: true, asha: true, "asha-promotion": true, hyperband: true }),
        budget: fc.record({ min: count, max: large, factor: count }),
        maxParallel: count,
        containerTime: fc.record({
          heldMs: large,
          startMs: large,
          handOverMs: large,
          barrierMs: large,
          afterLastMs: large,
        }),
      },
      { requiredKeys: ["metric", "direction", "parameters", "command"] },
    ),
    outcome,
  },
  {
    requiredKeys: [
      "statusVersion",
      "applicationId",
      "attempt",
      "name",
      "queue",
      "state",
      "generation",
      "startedAtMs",
      "nowMs",
      "amHost",
      "roles",
      "tasks",
      "waits",
      "generations",
      "budgets",
      "services",
      "usage",
    ],
  },
);

describe("what those who follow a job are told", () => {
  it("comes back as it was sent: its state", () => {
    fc.assert(
      fc.property(status, (one) => expect(jobStatus.decode(jobStatus.encode(one))).toEqual(one)),
      { numRuns: 30 },
    );
  });

  it("comes back as it was sent: its outcome", () => {
    fc.assert(fc.property(outcome, (one) => expect(jobOutcome.decode(jobOutcome.encode(one))).toEqual(one)));
  });

  it("is refused where a word or a code is not known, or bytes are missing", () => {
    const [one] = fc.sample(outcome, 1);
    if (one === undefined) throw new Error("no sample");
    const bytes = jobOutcome.encode(one);
    expect(() => jobOutcome.decode(bytes.subarray(0, -1))).toThrow();
    expect(() => jobOutcome.decode(Buffer.from([0x0a, 1, 0x78]))).toThrow("x is not one of succeeded, failed, killed");
    expect(() => jobOutcome.decode(new Uint8Array())).toThrow("an unknown code");
  });

  it("is what proto/tony/status.proto says", async () => {
    const declared = (await tonyProto()).lookupType("tony.v1.JobStatus");
    fc.assert(
      fc.property(status, (one) => {
        const known = declared.toObject(declared.decode(jobStatus.encode(one)), { longs: String });
        expect(jobStatus.decode(declared.encode(declared.fromObject(known)).finish())).toEqual(one);
      }),
      { numRuns: 20 },
    );
  });
});

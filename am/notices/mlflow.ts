import { TonyError } from "../../src/errors.ts";
import { quoted, readText } from "../../src/hadoop/http/exchange.ts";
import { shownNameInTrial } from "../../src/job/search/trial-tasks.ts";
import type { JobStatus, TaskStatus } from "../../src/job/status.ts";
import { parseTaskId } from "../../src/job/task.ts";
import { callJson, fieldAt, listAt, textAt } from "./json-calls.ts";
import { type OutletOptions, RepeatedOutlet } from "./outlet.ts";

export interface MlflowOptions extends OutletOptions {
  /** The experiment's name; it is created where it does not exist. */
  readonly experiment: string;
  /** The task whose metrics are the job's. */
  readonly leadTask: string;
}

/** What has a run of its own: the job, and each trial of a search. */
export interface RunSubject {
  /** `job`, `trial:17` */
  readonly key: string;
  readonly params: Readonly<Record<string, string>>;
  /** Tasks whose metrics are the run's, with the prefix of the metrics' names. */
  readonly tasks: readonly { readonly task: TaskStatus; readonly prefix: string }[];
  readonly state: "RUNNING" | "FINISHED" | "FAILED" | "KILLED";
  readonly endedAtMs?: number;
}

/** As the REST API takes it (mlflow.org, docs/latest/api_reference/rest-api.html). */
interface RunMetric {
  readonly key: string;
  readonly value: number;
  readonly timestamp: number;
  readonly step: number;
}

interface Run {
  readonly id: string;
  /** The last values sent of each metric. */
  readonly told: Map<string, string>;
  /** Parameters that were not sent yet. */
  untold: RunSubject["params"];
  isOver: boolean;
}

/** Limits of `runs/log-batch`. */
const MOST_METRICS = 1_000;
const MOST_PARAMS = 100;
/** The longest value that older servers take. */
const MOST_PARAM = 500;
const PAGE = 1_000;
const MOST_PAGES = 10;
/** The answer may come from anybody. */
const MOST_ANSWER_BYTES = 4 * 2 ** 20;
/** How many runs are updated at once. */
const AT_ONCE = 8;

const ofJob = { succeeded: "FINISHED", failed: "FAILED", killed: "KILLED" } as const;
const ofTrial = {
  completed: "FINISHED",
  stopped: "KILLED",
  failed: "FAILED",
  paused: "RUNNING",
  running: "RUNNING",
  interrupted: "KILLED",
} as const;

/**
 * Shows a job in MLflow, by its REST API: one run with the job's resources and the metrics of its programs, which a later attempt continues,
 * and below it one for each trial of a search.
 */
export class MlflowRuns extends RepeatedOutlet {
  readonly #options: MlflowOptions;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #runs = new Map<string, Run>();
  #experimentId: string | undefined;
  #isFound = false;

  constructor(options: MlflowOptions) {
    super(options, 0);
    this.#options = options;
    this.#headers = authorization(options.variables);
  }

  /** Where MLflow's own client finds the job's run; empty before the run exists. */
  get variables(): Readonly<Record<string, string>> {
    const id = this.#runs.get("job")?.id;
    return id === undefined ? {} : { MLFLOW_TRACKING_URI: this.#options.url, MLFLOW_RUN_ID: id };
  }

  protected async tell(status: JobStatus): Promise<void> {
    const experimentId = this.#experimentId ?? (await this.#experiment());
    this.#experimentId = experimentId;
    if (!this.#isFound && status.attempt > 1) await this.#findRuns(experimentId, status);
    this.#isFound = true;
    const [job, ...trials] = runSubjects(status, this.#options.leadTask);
    if (job !== undefined) await this.#bring(experimentId, job, status);
    for (let at = 0; at < trials.length; at += AT_ONCE) {
      const some = trials.slice(at, at + AT_ONCE);
      await Promise.all(some.map((trial) => this.#bring(experimentId, trial, status)));
    }
  }

  async #bring(experimentId: string, subject: RunSubject, status: JobStatus): Promise<void> {
    const { key, state } = subject;
    const known = this.#runs.get(key);
    if (known?.isOver) return;
    const run = known ?? (await this.#begin(experimentId, subject, status));
    this.#runs.set(key, run);
    if (Object.keys(run.untold).length > 0)
      await this.#call("runs/log-batch", { run_id: run.id, params: entriesOf(run.untold) });
    run.untold = {};
    const metrics = changedMetrics(subject, run.told, status.nowMs);
    for (let at = 0; at < metrics.length; at += MOST_METRICS) {
      const part = metrics.slice(at, at + MOST_METRICS);
      await this.#call("runs/log-batch", { run_id: run.id, metrics: part });
      for (const metric of part) run.told.set(metric.key, toldOf(metric));
    }
    if (state === "RUNNING") return;
    await this.#call("runs/update", { run_id: run.id, status: state, end_time: subject.endedAtMs ?? status.nowMs });
    run.isOver = true;
  }

  async #begin(experimentId: string, { key, params }: RunSubject, status: JobStatus): Promise<Run> {
    const { applicationId, name, startedAtMs } = status;
    const parent = key === "job" ? undefined : this.#runs.get("job")?.id;
    const tags = {
      "mlflow.user": this.#options.user,
      "mlflow.source.name": name,
      "tony.application_id": applicationId,
      "tony.run": key,
      ...(parent === undefined ? {} : { "mlflow.parentRunId": parent }),
    };
    const answer = await this.#call("runs/create", {
      experiment_id: experimentId,
      run_name: key === "job" ? `${name} ${applicationId}` : key,
      start_time: key === "job" ? startedAtMs : status.nowMs,
      tags: entriesOf(tags),
    });
    return { id: textAt(answer, "run", "info", "run_id"), told: new Map(), untold: params, isOver: false };
  }

  async #experiment(tries = 2): Promise<string> {
    const { experiment: name } = this.#options;
    const found = await this.#ask(`experiments/get-by-name?${new URLSearchParams({ experiment_name: name })}`);
    if (found.statusCode !== 404) return textAt(this.#taken(found), "experiment", "experiment_id");
    const made = await this.#ask("experiments/create", { name });
    // Another job may have made it meanwhile.
    if (tries > 1 && made.statusCode === 400 && made.text.includes("RESOURCE_ALREADY_EXISTS"))
      return await this.#experiment(tries - 1);
    return textAt(this.#taken(made), "experiment_id");
  }

  /** Finds the runs that an earlier attempt has begun. */
  async #findRuns(experimentId: string, { applicationId }: JobStatus): Promise<void> {
    const filter = `tags.\`tony.application_id\` = '${applicationId}'`;
    let page: string | undefined;
    for (let pages = 0; pages < MOST_PAGES && page !== ""; pages += 1) {
      const answer = await this.#call("runs/search", {
        experiment_ids: [experimentId],
        filter,
        max_results: PAGE,
        ...(page === undefined ? {} : { page_token: page }),
      });
      for (const run of listAt(answer, "runs")) {
        const tag = listAt(run, "data", "tags").find((one) => fieldAt(one, "key") === "tony.run");
        const key = tag === undefined ? "" : textAt(tag, "value");
        // The status of the job's own run may come from a program: MLflow's client ends the run that it has logged to.
        const isOver = key !== "job" && textAt(run, "info", "status") !== "RUNNING";
        if (/^(job|trial:\d{1,9})$/.test(key))
          this.#runs.set(key, { id: textAt(run, "info", "run_id"), told: new Map(), untold: {}, isOver });
      }
      page = fieldAt(answer, "next_page_token") === undefined ? "" : textAt(answer, "next_page_token");
    }
  }

  async #call(method: string, body: object): Promise<unknown> {
    return this.#taken(await this.#ask(method, body));
  }

  /** @param body absent: a GET */
  async #ask(method: string, body?: object): Promise<{ method: string; statusCode: number; text: string }> {
    const { url } = this.#options;
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const answer = await callJson(new URL(`${url.replace(/\/+$/, "")}/api/2.0/mlflow/${method}`), this.#headers, bytes);
    const text = await readText(answer, new URL(url).host, MOST_ANSWER_BYTES);
    return { method: method.split("?", 1)[0] ?? method, statusCode: answer.statusCode ?? 0, text };
  }

  #taken({ method, statusCode, text }: { method: string; statusCode: number; text: string }): unknown {
    if (statusCode < 200 || statusCode >= 300) throw this.#trouble(method, `HTTP ${statusCode}: ${quoted(text)}`);
    try {
      return JSON.parse(text);
    } catch {
      throw this.#trouble(method, `no JSON: ${quoted(text)}`);
    }
  }

  #trouble(method: string, what: string): TonyError {
    return new TonyError(`${new URL(this.#options.url).host} answered ${method} with ${what}`, {
      code: "MLFLOW_REFUSED",
    });
  }
}

/** The job, and the trials of a search that have parameters. */
export function runSubjects(status: JobStatus, leadTask: string): RunSubject[] {
  const { outcome, tasks, roles, queue, search } = status;
  const asked = roles.flatMap(({ name, instances, memoryMiB, vcores, others }) =>
    Object.entries({ instances, memory_mib: memoryMiB, vcores, ...others }).map(
      ([what, count]) => [`${name}.${what}`, String(count)] as const,
    ),
  );
  const job: RunSubject = {
    key: "job",
    params: Object.fromEntries([["queue", queue], ...asked]),
    tasks: search === undefined ? tasks.flatMap((task) => reporting(task, leadTask)) : [],
    state: outcome === undefined ? "RUNNING" : ofJob[outcome.result],
    ...(outcome === undefined ? {} : { endedAtMs: outcome.endedAtMs }),
  };
  const trials = tasks.flatMap((task): RunSubject[] => {
    const [key] = shownNameInTrial(status, task.task)?.split("/") ?? [];
    if (key === undefined || task.params === undefined) return [];
    const ended = task.endedAtMs === undefined ? {} : { endedAtMs: task.endedAtMs };
    const state = task.trial === undefined ? "RUNNING" : ofTrial[task.trial.state];
    // A trial that still runs when its job ends does not go on.
    const last = state === "RUNNING" && outcome !== undefined ? "KILLED" : state;
    return [{ key, params: task.params, tasks: [{ task, prefix: "" }], state: last, ...ended }];
  });
  return [job, ...trials];
}

/** The lead task, and the first one of every other role, whose name prefixes its metrics. */
function reporting(task: TaskStatus, leadTask: string): RunSubject["tasks"] {
  if (task.task === leadTask) return [{ task, prefix: "" }];
  const { role, index } = parseTaskId(task.task) ?? {};
  return index === 0 && role !== parseTaskId(leadTask)?.role ? [{ task, prefix: `${role}/` }] : [];
}

/** Those of the last values that were not sent yet. */
function changedMetrics({ tasks }: RunSubject, told: ReadonlyMap<string, string>, nowMs: number): RunMetric[] {
  return tasks
    .flatMap(({ task: { metrics = {}, step = 0 }, prefix }) =>
      Object.entries(metrics).map(([name, value]) => ({
        key: `${prefix}${name}`.replaceAll(/[^\w\-. /]/g, "_").slice(0, 250),
        value,
        timestamp: nowMs,
        step,
      })),
    )
    .filter((metric) => told.get(metric.key) !== toldOf(metric));
}

function toldOf({ step, value }: RunMetric): string {
  return `${step} ${value}`;
}

/** From the variables that MLflow's own client reads. */
function authorization({
  MLFLOW_TRACKING_TOKEN: token,
  MLFLOW_TRACKING_USERNAME: user,
  MLFLOW_TRACKING_PASSWORD: password,
}: Readonly<Record<string, string>>): Record<string, string> {
  if (token !== undefined) return { Authorization: `Bearer ${token}` };
  if (user === undefined || password === undefined) return {};
  return { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` };
}

function entriesOf(values: Readonly<Record<string, string>>): { key: string; value: string }[] {
  return Object.entries(values)
    .slice(0, MOST_PARAMS)
    .map(([key, value]) => ({ key, value: value.slice(0, MOST_PARAM) }));
}

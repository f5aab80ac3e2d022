import { TonyError } from "../../src/errors.ts";
import type { JobStatus, RoleStatus, TaskStatus } from "../../src/job/status.ts";
import { callJson } from "./json-calls.ts";
import { type OutletOptions, RepeatedOutlet } from "./outlet.ts";

const EVERY_MS = 15_000;

type Attributes = Readonly<Record<string, string>>;
type Point = readonly [Attributes, number];

/** Pushes what a job uses and reports to a collector of OpenTelemetry, by OTLP over HTTP in JSON (opentelemetry.io/docs/specs/otlp). */
export class OtlpMetrics extends RepeatedOutlet {
  readonly #options: OutletOptions;
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(options: OutletOptions) {
    super(options, EVERY_MS);
    this.#options = options;
    this.#url = new URL(options.url);
    if (this.#url.pathname === "/") this.#url.pathname = "/v1/metrics";
    this.#headers = headersIn(options.variables.OTEL_EXPORTER_OTLP_HEADERS ?? "");
  }

  protected async tell(status: JobStatus): Promise<void> {
    const body = Buffer.from(JSON.stringify(otlpMetrics(status, this.#options.user)));
    const answer = await callJson(this.#url, this.#headers, body);
    answer.destroy();
    const { statusCode = 0 } = answer;
    if (statusCode >= 200 && statusCode < 300) return;
    throw new TonyError(`The collector at ${this.#url.host} answered HTTP ${statusCode}`, {
      code: "COLLECTOR_REFUSED",
    });
  }
}

/** An ExportMetricsServiceRequest: by role, for there may be thousands of tasks. */
export function otlpMetrics(status: JobStatus, user: string): object {
  const { applicationId, name, queue, roles, tasks, nowMs, generation, waits, usage } = status;
  const ofRoles = <T>(value: (role: RoleStatus, own: readonly TaskStatus[]) => T[]): T[] =>
    roles.flatMap((role) =>
      value(
        role,
        tasks.filter(({ task }) => task.startsWith(`${role.name}:`)),
      ),
    );
  const perRole = (amount: (own: readonly TaskStatus[]) => number | undefined) =>
    ofRoles(({ name: role }, own): Point[] => {
      const value = amount(own);
      return value === undefined || !Number.isFinite(value) ? [] : [[{ role }, value]];
    });
  const gauge = (metric: string, unit: string, description: string, points: readonly Point[]) => ({
    name: metric,
    unit,
    description,
    gauge: { dataPoints: points.map((point) => dataPoint(point, nowMs)) },
  });
  const states = ofRoles(({ name: role }, own) =>
    [...new Set(own.map(({ state }) => state))].map(
      (state): Point => [{ role, state }, own.filter((task) => task.state === state).length],
    ),
  );
  const programs = ofRoles(({ name: role }, [first]) =>
    Object.entries(first?.metrics ?? {})
      .filter(([, value]) => Number.isFinite(value))
      .map(([metric, value]): Point => [{ role, metric }, value]),
  );
  const metrics = [
    gauge("tony.tasks", "{task}", "Tasks of a role in each state.", states),
    gauge("tony.memory.usage", "By", "Memory that the tasks of a role use.", perRole(sumOf("memoryBytes"))),
    gauge("tony.memory.usage.max", "By", "The most that one task of a role uses.", perRole(mostOf("memoryBytes"))),
    gauge("tony.cpu.usage", "{cpu}", "Processors that the tasks of a role keep busy.", perRole(sumOf("cpuCores"))),
    gauge("tony.gpu.utilization", "1", "How busy the GPUs of a role are, on average.", perRole(gpuUse)),
    gauge("tony.step.min", "{step}", "The last step of the task that is farthest behind.", perRole(leastOf("step"))),
    gauge("tony.step.max", "{step}", "The last step of the task that is farthest ahead.", perRole(mostOf("step"))),
    gauge("tony.program.metric", "1", "What the first task of a role reports.", programs),
    gauge("tony.generation", "1", "How often the job's programs have been started together.", [[{}, generation]]),
    gauge("tony.waits", "1", "How many things the job waits for.", [[{}, waits.length]]),
    gauge("tony.held.memory", "MiBy.s", "Memory that the job has held so far.", [[{}, usage.memoryMiBSeconds]]),
    gauge("tony.held.vcores", "{vcore}.s", "Virtual cores that it has held so far.", [[{}, usage.vcoreSeconds]]),
  ].filter(({ gauge: { dataPoints } }) => dataPoints.length > 0);
  const resource = {
    "service.name": "tony-ts",
    "service.instance.id": applicationId,
    "tony.job.name": name,
    "tony.queue": queue,
    "tony.user": user,
  };
  return {
    resourceMetrics: [
      { resource: { attributes: attributesOf(resource) }, scopeMetrics: [{ scope: { name: "tony-ts" }, metrics }] },
    ],
  };
}

type Amount = "memoryBytes" | "cpuCores" | "step";

function valuesOf(tasks: readonly TaskStatus[], amount: Amount): number[] {
  return tasks.flatMap((task) => task[amount] ?? []);
}

function sumOf(amount: Amount): (tasks: readonly TaskStatus[]) => number | undefined {
  return (tasks) => {
    const values = valuesOf(tasks, amount);
    return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
  };
}

function mostOf(amount: Amount): (tasks: readonly TaskStatus[]) => number {
  return (tasks) => valuesOf(tasks, amount).reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
}

function leastOf(amount: Amount): (tasks: readonly TaskStatus[]) => number {
  return (tasks) => valuesOf(tasks, amount).reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
}

function gpuUse(tasks: readonly TaskStatus[]): number | undefined {
  const used = tasks.flatMap(({ gpus }) => gpus?.utilization?.current ?? []);
  return used.length === 0 ? undefined : used.reduce((sum, percent) => sum + percent, 0) / used.length / 100;
}

function dataPoint([attributes, asDouble]: Point, nowMs: number): object {
  return { attributes: attributesOf(attributes), timeUnixNano: `${nowMs}000000`, asDouble };
}

function attributesOf(attributes: Attributes): object[] {
  return Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } }));
}

/** As OpenTelemetry's exporters read that variable; what is no pair is left out. */
function headersIn(text: string): Record<string, string> {
  const pairs = text.split(",").flatMap((pair): [string, string][] => {
    const [, name, value] = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    return name === undefined || value === undefined ? [] : [[name, decoded(value)]];
  });
  return Object.fromEntries(pairs);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

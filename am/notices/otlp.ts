import { TonyError } from "../../src/errors.ts";
import { type GaugeLabels, type GaugePoint, jobGauges } from "../../src/job/gauges.ts";
import type { JobStatus } from "../../src/job/status.ts";
import { callJson } from "./json-calls.ts";
import { type OutletOptions, RepeatedOutlet } from "./outlet.ts";

const EVERY_MS = 15_000;

/** Pushes what a job uses and reports to an OpenTelemetry collector, by OTLP over HTTP in JSON (opentelemetry.io/docs/specs/otlp). */
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
    throw new TonyError(`${this.#url.host} answered HTTP ${statusCode}`, {
      code: "COLLECTOR_REFUSED",
    });
  }
}

/** An ExportMetricsServiceRequest. */
export function otlpMetrics(status: JobStatus, user: string): object {
  const { applicationId, name, queue, nowMs } = status;
  const metrics = jobGauges(status).map(({ points, ...what }) => ({
    ...what,
    gauge: { dataPoints: points.map((point) => dataPoint(point, nowMs)) },
  }));
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

function dataPoint([labels, asDouble]: GaugePoint, nowMs: number): object {
  return { attributes: attributesOf(labels), timeUnixNano: `${nowMs}000000`, asDouble };
}

function attributesOf(labels: GaugeLabels): object[] {
  return Object.entries(labels).map(([key, stringValue]) => ({ key, value: { stringValue } }));
}

/** Parses the variable as OpenTelemetry's exporters do; parts that are no pairs are left out. */
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

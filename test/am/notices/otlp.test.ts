import { createServer, type IncomingMessage, type Server } from "node:http";
import { json } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { OtlpMetrics, otlpMetrics } from "../../../am/notices/otlp.ts";
import { aJobStatus, noonishMs } from "../../client/job-status.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";

let server: Server;
let posted: { readonly request: IncomingMessage; readonly body: unknown }[];
let statusCode: number;
beforeEach(async () => {
  posted = [];
  statusCode = 200;
  server = createServer((request, response) => {
    void json(request).then((body) => {
      posted.push({ request, body });
      response.writeHead(statusCode).end();
    });
  });
  await listenLocally(server);
});
afterEach(() => void server.close());

const status = (() => {
  const base = aJobStatus();
  const measured = [
    {
      memoryBytes: 100,
      cpuCores: 1.5,
      step: 10,
      metrics: { loss: 0.5, bad: Number.NaN },
      disk: { readBytesPerSecond: 7, writtenBytesPerSecond: 0 },
    },
    {
      memoryBytes: 300,
      cpuCores: 0.5,
      step: 8,
      gpus: {
        count: 2,
        utilization: { current: 50, max: 90, average: 60 },
        memory: { current: 25, max: 25, average: 25 },
        devices: [{ utilization: 99 }, { utilization: 1 }],
      },
      disk: { readBytesPerSecond: 3, writtenBytesPerSecond: 5 },
    },
    {},
  ];
  return { ...base, tasks: base.tasks.map((task, index) => ({ ...task, ...measured[index] })) };
})();

function outlet(path: string, warned: string[] = []): OtlpMetrics {
  return new OtlpMetrics({
    url: `http://${localAddress(server)}${path}`,
    user: "ada",
    variables: { OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%20b, nonsense" },
    clock: { nowMs: () => noonishMs, random: () => 0 },
    warn: (message) => warned.push(message),
  });
}

test("what a role's tasks use and report is one point of each metric", () => {
  const said = JSON.parse(JSON.stringify(otlpMetrics(status, "ada")));
  const [{ resource, scopeMetrics }] = said.resourceMetrics;
  expect(resource.attributes).toContainEqual({ key: "tony.user", value: { stringValue: "ada" } });
  const points = scopeMetrics[0].metrics.flatMap(
    ({
      name,
      gauge,
    }: {
      name: string;
      gauge: { dataPoints: { attributes: { value: { stringValue: string } }[]; asDouble: number }[] };
    }) =>
      gauge.dataPoints.map(({ attributes, asDouble }) => [
        name,
        ...attributes.map(({ value }) => value.stringValue),
        asDouble,
      ]),
  );
  expect(points).toEqual([
    ["tony.tasks", "worker", "running", 2],
    ["tony.tasks", "ps", "running", 1],
    ["tony.memory.usage", "worker", 400],
    ["tony.memory.usage.max", "worker", 300],
    ["tony.memory.limit", "worker", 4 * 2 ** 30],
    ["tony.memory.limit", "ps", 4 * 2 ** 30],
    ["tony.cpu.usage", "worker", 2],
    ["tony.disk.read", "worker", 10],
    ["tony.disk.written", "worker", 5],
    ["tony.gpu.utilization", "worker", 0.5],
    ["tony.gpu.utilization.min", "worker", 0.01],
    ["tony.gpu.memory", "worker", 0.25],
    ["tony.step.min", "worker", 8],
    ["tony.step.max", "worker", 10],
    ["tony.program.metric", "worker", "loss", 0.5],
    ["tony.generation", 1],
    ["tony.waits", 0],
    ["tony.held.memory", 0],
    ["tony.held.vcores", 0],
  ]);
  expect(scopeMetrics[0].metrics[0].gauge.dataPoints[0].timeUnixNano).toBe(`${status.nowMs}000000`);
});

test("GPUs of a task that has ended are nobody's: they do nothing", () => {
  const ended = status.tasks.map((task) => ({ ...task, state: "succeeded" }) as const);
  const told = JSON.stringify(otlpMetrics({ ...status, tasks: ended }, "ada"));
  expect(told).not.toContain("tony.gpu");
  expect(JSON.stringify(otlpMetrics(status, "ada"))).toContain("tony.gpu");
});

test.each([
  ["/", "/v1/metrics"],
  ["/otlp/push", "/otlp/push"],
])("an address that ends in %s is asked at %s, with the headers of the secret", async (given, asked) => {
  await outlet(given).end(status);
  expect(posted.map(({ request }) => [request.url, request.headers["api-key"]])).toEqual([[asked, "a b"]]);
});

test.each([300, 404, 503])("a collector that refuses with %i is told of", async (refusal) => {
  statusCode = refusal;
  const warned: string[] = [];
  await outlet("/", warned).end(status);
  expect(warned).toEqual([`${localAddress(server)} answered HTTP ${refusal}`]);
});

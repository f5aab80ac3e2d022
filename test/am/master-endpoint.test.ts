import { afterEach, expect, test } from "@jest/globals";
import { MasterEndpoint, type MasterEndpointOptions } from "../../am/master-endpoint.ts";
import { executorIdentity } from "../../src/api/identity.ts";
import type { RejoinRequest } from "../../src/api/messages.ts";
import { startRejoinServer } from "../../src/api/rejoin.ts";
import type { JobFile } from "../../src/job/stored/job-file.ts";
import type { Log } from "../../src/log.ts";
import { searchOf } from "../job/search/support.ts";
import {
  anExecutorJob,
  executor,
  identity,
  noClients,
  noEnds,
  noFeeds,
  noSessions,
  openStream,
  ownersDoor,
  RecordingExecutors,
  register,
} from "../support/api.ts";
import { silentLog } from "../support/silent-log.ts";

const job: JobFile = {
  ...anExecutorJob(),
  files: { master: [], all: [], byRole: {} },
  node: "node",
  sharedLabels: [],
  resourceTypes: [],
};

let opened: MasterEndpoint[] = [];
afterEach(async () => {
  await Promise.all(opened.map((endpoint) => endpoint.close(0)));
  opened = [];
});

async function endpointOf(
  announce: (address: unknown) => Promise<void> = async () => undefined,
  changes: Partial<MasterEndpointOptions> = {},
) {
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (event, message) => void warnings.push(`${event}: ${message}`) };
  const endpoint = new MasterEndpoint({
    job,
    identity,
    settings: { attempt: 2, host: "127.0.0.1" },
    executors: new RecordingExecutors(),
    clients: noClients,
    sessions: noSessions,
    feeds: noFeeds,
    ends: noEnds,
    door: ownersDoor,
    staging: { announce },
    log,
    ...changes,
  });
  opened.push(endpoint);
  return { endpoint, warnings, hostPort: await endpoint.open() };
}

test("the address where it listens is left in the staging folder", async () => {
  const announced: unknown[] = [];
  const { endpoint, hostPort } = await endpointOf(async (address) => void announced.push(address));
  await endpoint.announce();
  expect(hostPort.port).toBeGreaterThan(0);
  expect(endpoint.address).toBe(`127.0.0.1:${hostPort.port}`);
  expect(announced).toEqual([{ attempt: 2, ...hostPort }]);
});

test("an attempt that cannot leave its address there goes on", async () => {
  const { endpoint, warnings } = await endpointOf(() => Promise.reject(new Error("no NameNode answers")));
  await endpoint.announce();
  expect(warnings).toEqual([
    "announce-failed: The address could not be left in the staging folder: no NameNode answers",
  ]);
});

test("an executor gets the job and its heartbeats' interval, but neither the address of notices nor the trials of an earlier search", async () => {
  const search = { ...searchOf({ x: "float 0 1" }), before: [{ params: { x: 0.5 } }] };
  const { timeouts, am } = job.spec;
  const spec = {
    ...job.spec,
    am: { ...am, notifyUrl: "https://chat.example/secret" },
    timeouts: { ...timeouts, heartbeatIntervalMs: 1_234 },
    search,
  };
  const { endpoint } = await endpointOf(undefined, { job: { ...job, spec } });
  const { stream, messages } = openStream({ identity: executor, address: endpoint.address });
  stream.send(register());
  const { attempt, body } = await messages.next();
  stream.close();
  expect([attempt, body]).toMatchObject([2, { type: "welcome", heartbeatIntervalMs: 1_234 }]);
  const text = body.type === "welcome" ? Buffer.from(body.job).toString() : "";
  expect(JSON.parse(text)).toMatchObject({ applicationId: job.applicationId, spec: { search: { metric: "loss" } } });
  expect(text).not.toMatch(/chat\.example|"before"|"files":\{"master"/);
});

test("it listens in the range of ports that the job names", async () => {
  const spec = { ...job.spec, ports: { am: { from: 10_000, to: 30_000 } } };
  const { hostPort } = await endpointOf(undefined, { job: { ...job, spec } });
  expect(hostPort.port).toBeGreaterThanOrEqual(10_000);
  expect(hostPort.port).toBeLessThanOrEqual(30_000);
});

test("executors of an earlier attempt are called, and told where this one listens", async () => {
  const { endpoint } = await endpointOf();
  const requests: RejoinRequest[] = [];
  const port = await startRejoinServer({
    host: "127.0.0.1",
    identity: executorIdentity(identity, "c2"),
    build: "test",
    portKey: "tony.task.port-range",
    random: () => 0,
    rejoin: (request) => {
      requests.push(request);
      return { accepted: true, reason: "" };
    },
  });
  await endpoint.callBack([{ task: "worker:0", containerId: "c2", address: `127.0.0.1:${port}` }]);
  expect(requests).toMatchObject([{ attempt: 2, masterAddress: endpoint.address }]);
});

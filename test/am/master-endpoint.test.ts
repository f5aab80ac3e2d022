import { afterEach, expect, test } from "@jest/globals";
import { MasterEndpoint } from "../../am/master-endpoint.ts";
import type { JobFile } from "../../src/job/stored/job-file.ts";
import type { Log } from "../../src/log.ts";
import {
  anExecutorJob,
  identity,
  noClients,
  noEnds,
  noFeeds,
  noSessions,
  ownersDoor,
  RecordingExecutors,
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

async function endpointOf(announce: (address: unknown) => Promise<void>) {
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

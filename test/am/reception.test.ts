import { afterEach, expect, test } from "@jest/globals";
import { Reception } from "../../am/reception.ts";
import type { JobFile } from "../../src/job/stored/job-file.ts";
import type { Log } from "../../src/log.ts";
import { anExecutorJob, identity, noClients, noSessions, ownersDoor, RecordingExecutors } from "../support/api.ts";
import { silentLog } from "../support/silent-log.ts";

const job: JobFile = {
  ...anExecutorJob(),
  files: { master: [], all: [], byRole: {} },
  node: "node",
  sharedLabels: [],
  resourceTypes: [],
};

let opened: Reception[] = [];
afterEach(async () => {
  await Promise.all(opened.map((reception) => reception.close(0)));
  opened = [];
});

async function receptionOf(announce: (address: unknown) => Promise<void>) {
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (event, message) => void warnings.push(`${event}: ${message}`) };
  const reception = new Reception({
    job,
    identity,
    settings: { attempt: 2, host: "127.0.0.1" },
    executors: new RecordingExecutors(),
    clients: noClients,
    sessions: noSessions,
    door: ownersDoor,
    staging: { announce },
    log,
  });
  opened.push(reception);
  return { reception, warnings, hostPort: await reception.open() };
}

test("the address where it listens is left in the staging folder", async () => {
  const announced: unknown[] = [];
  const { reception, hostPort } = await receptionOf(async (address) => void announced.push(address));
  await reception.announce();
  expect(hostPort.port).toBeGreaterThan(0);
  expect(reception.address).toBe(`127.0.0.1:${hostPort.port}`);
  expect(announced).toEqual([{ attempt: 2, ...hostPort }]);
});

test("an attempt that cannot leave its address there goes on", async () => {
  const { reception, warnings } = await receptionOf(() => Promise.reject(new Error("no NameNode answers")));
  await reception.announce();
  expect(warnings).toEqual([
    "announce-failed: The address could not be left in the staging folder: no NameNode answers",
  ]);
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, it, jest } from "@jest/globals";
import { MasterLink, type MasterLinkOptions } from "../../../executor/master/master-link.ts";
import { StagingFolder } from "../../../executor/master/staging-folder.ts";
import { noCredentials } from "../../../src/hadoop/security/credentials.ts";
import { stagingLocation } from "../../../src/job/stored/staging-location.ts";
import { openLog } from "../../../src/log.ts";
import { anExecutorJob, aRegistration, executor, identity, startMaster } from "../../support/api.ts";

const registration = aRegistration();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function master(attempt: number) {
  const started = await startMaster({ attempt });
  closing.push(() => started.server.close(0));
  return started;
}

function linkTo(address: string, changes: Partial<MasterLinkOptions> = {}): MasterLink {
  const link = new MasterLink({
    identity: executor,
    build: "test",
    master: { attempt: 1, address },
    log: openLog("error"),
    limits: { orphanMs: 780_000, isolationMs: 30_000 },
    random: () => 0,
    monotonicMs: () => performance.now(),
    generation: () => registration.generation,
    registration: () => registration,
    joined: () => {},
    left: () => {},
    command: () => {},
    refused: () => {},
    orphaned: () => {},
    lookIntoStaging: async () => undefined,
    replaced: () => {},
    gate: { open: () => {}, close: () => {} },
    suspend: () => {},
    resume: () => {},
    ...changes,
  });
  closing.push(() => link.close("the test is over"));
  return link;
}

it("an executor whose ApplicationMaster died before it was welcomed finds the next attempt by the staging folder, registers there, and obeys no earlier one again", async () => {
  const orphaned = jest.fn();
  const log = openLog("error");
  const said = jest.spyOn(log, "debug");
  const folder = mkdtempSync(path.join(tmpdir(), "tony-staging-"));
  closing.push(async () => rmSync(folder, { recursive: true }));
  const dead = await startMaster();
  await dead.server.close(0);
  const next = await master(2);
  const announced = { attempt: 2, host: "127.0.0.1", port: next.server.port };
  writeFileSync(path.join(folder, "am-2.json"), JSON.stringify(announced));
  const staging = new StagingFolder(
    stagingLocation({ ...anExecutorJob(), stagingUrl: `file://${folder}` }),
    () => noCredentials,
  );
  const link = linkTo(dead.address, {
    orphaned,
    log,
    lookIntoStaging: () => staging.look({ ...registration, applicationId: identity.applicationId }),
  });
  const waiting = [link.connected(), link.connected()];
  link.start();
  const call = await next.executors.calls.next((one) => one.call === "connected");
  expect(call).toMatchObject({ registration });
  await Promise.all(waiting);
  expect(link.master).toEqual({ attempt: 2, address: next.address });
  expect(orphaned).not.toHaveBeenCalled();
  expect(said.mock.calls.map(([event, words]) => `${event}: ${words}`)).toContainEqual(
    expect.stringMatching(/^connect-failed: .* did not answer: .*ECONNREFUSED/),
  );
  expect(link.rejoin({ attempt: 1, address: dead.address })).toEqual({
    accepted: false,
    reason: "attempt 2 is obeyed already",
  });
  expect(link.master.attempt).toBe(2);
});

it("an executor that a later attempt calls leaves the earlier one, whom it can show that it was replaced, should that be where the later one is said to be", async () => {
  const [first, second] = [await master(1), await master(2)];
  const link = linkTo(first.address);
  link.start();
  await link.connected();
  expect(link.rejoin({ attempt: 2, address: second.address }).accepted).toBe(true);
  await second.executors.calls.next((one) => one.call === "connected");
  await first.executors.calls.next((one) => one.call === "disconnected");
  expect(link.rejoin({ attempt: 2, address: first.address }).accepted).toBe(true);
  expect(await first.executors.calls.next((one) => one.call === "superseded")).toMatchObject({ attempt: 2 });
});

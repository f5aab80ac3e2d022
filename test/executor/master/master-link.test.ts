import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, jest } from "@jest/globals";
import { MasterLink } from "../../../executor/master/master-link.ts";
import { StagingFolder } from "../../../executor/master/staging-folder.ts";
import { noCredentials } from "../../../src/hadoop/security/credentials.ts";
import { stagingLocation } from "../../../src/job/stored/staging-location.ts";
import { openLog } from "../../../src/log.ts";
import { anExecutorJob, aRegistration, executor, identity, startMaster } from "../../support/api.ts";

describe("an executor whose ApplicationMaster died before it was welcomed", () => {
  it("finds the next attempt by the staging folder, registers there, and obeys no earlier one again", async () => {
    const orphaned = jest.fn();
    const folder = mkdtempSync(path.join(tmpdir(), "tony-staging-"));
    const dead = await startMaster();
    await dead.server.close(0);
    const next = await startMaster({ attempt: 2 });
    const announced = { attempt: 2, host: "127.0.0.1", port: next.server.port };
    writeFileSync(path.join(folder, "am-2.json"), JSON.stringify(announced));
    const staging = new StagingFolder(
      stagingLocation({ ...anExecutorJob(), stagingUrl: `file://${folder}` }),
      () => noCredentials,
    );
    const registration = aRegistration();
    let isJoined = () => {};
    const joined = new Promise<void>((resolve) => {
      isJoined = resolve;
    });
    const link = new MasterLink({
      identity: executor,
      build: "test",
      master: { attempt: 1, address: dead.address },
      log: openLog("error"),
      limits: { orphanMs: 780_000, isolationMs: 30_000 },
      random: () => 0,
      monotonicMs: () => performance.now(),
      generation: () => registration.generation,
      registration: () => registration,
      joined: () => isJoined(),
      left: () => {},
      command: () => {},
      refused: () => {},
      orphaned,
      lookIntoStaging: () => staging.look({ ...registration, applicationId: identity.applicationId }),
      replaced: () => {},
      gate: { open: () => {}, close: () => {} },
      suspend: () => {},
      resume: () => {},
    });
    try {
      link.start();
      const call = await next.executors.calls.next((one) => one.call === "connected");
      expect(call).toMatchObject({ registration });
      await joined;
      expect(link.master).toEqual({ attempt: 2, address: next.address });
      expect(orphaned).not.toHaveBeenCalled();
      expect(link.rejoin({ attempt: 1, address: dead.address })).toEqual({
        accepted: false,
        reason: "attempt 2 is obeyed already",
      });
      expect(link.master.attempt).toBe(2);
    } finally {
      await link.close("the test is over");
      await next.server.close(0);
      rmSync(folder, { recursive: true });
    }
  });
});

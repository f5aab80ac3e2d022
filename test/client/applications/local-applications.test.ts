import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { LocalApplications } from "../../../client/applications/local-applications.ts";
import {
  localFiles,
  localMasterContainerId,
  localRoot,
  newLocalFolder,
  rootRefusal,
} from "../../../client/applications/local-folder.ts";
import { LocalLogStore } from "../../../client/applications/local-log-store.ts";
import { clientAccess, clientAccessFile, formatClientAccess } from "../../../src/api/identity.ts";
import { wholeJob } from "../../../src/job/amounts.ts";
import { jobFileName } from "../../../src/job/stored/stored-job.ts";
import { jobSpec, role } from "../../simulation/job.ts";
import { identity } from "../../support/api.ts";
import { aJobSpec } from "../../support/job-spec.ts";
import { aJobStatus, allSucceeded } from "../job-status.ts";

test.each([
  [{ XDG_STATE_HOME: "/state", HOME: "/home/ada" }, "/state/tony-ts/local"],
  [{ XDG_STATE_HOME: "state", HOME: "/home/ada" }, "/home/ada/.local/state/tony-ts/local"],
  [{ HOME: "relative" }, path.join(homedir(), ".local/state/tony-ts/local")],
  [{ HOME: "" }, path.join(homedir(), ".local/state/tony-ts/local")],
])("a folder that is no absolute path is none: %j", (environment, root) => {
  expect(localRoot(environment)).toBe(root);
});

test("a log that is passed over is not opened", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "local-logs-"));
  const logs = path.join(folder, "am", "logs");
  mkdirSync(logs, { recursive: true });
  writeFileSync(path.join(logs, "am.log"), "first");
  const texts: string[] = [];
  for await (const { content } of new LocalLogStore("local_1795305600000_0001", folder).logs(() => true)) {
    await setImmediate();
    rmSync(logs, { recursive: true });
    mkdirSync(logs);
    writeFileSync(path.join(logs, "am.log"), "another");
    texts.push(await text(content));
  }
  expect(texts).toEqual(["another"]);
  rmSync(folder, { recursive: true });
});

test("logs are told by containers, the ApplicationMaster's first, and by names; those that are not wanted are passed over", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "local-logs-"));
  const [master, first, second] = [1, 2, 3].map((number) => `container_1795305600000_0001_01_00000${number}`);
  const store = new LocalLogStore("local_1795305600000_0001", folder);
  expect(localMasterContainerId("local_1795305600000_0012")).toBe("container_1795305600000_0012_01_000001");
  async function found(wanted: (containerId: string) => boolean) {
    const logs: (readonly [string, string, number])[] = [];
    for await (const { containerId, name, lengthBytes } of store.logs(wanted))
      logs.push([containerId, name, lengthBytes]);
    return logs;
  }
  expect(await found(() => true)).toEqual([]);
  for (const logs of [`containers/${second}/logs`, "am/logs", `containers/${first}/logs`]) {
    mkdirSync(path.join(folder, logs), { recursive: true });
    for (const [name, text] of [
      ["stderr", ""],
      ["am.log", "began"],
      ["stdout", "printed"],
    ] as const)
      writeFileSync(path.join(folder, logs, name), text);
  }
  const all = [master, first, second].flatMap((id) => [
    [id, "am.log", 5] as const,
    [id, "stderr", 0] as const,
    [id, "stdout", 7] as const,
  ]);
  expect(await found(() => true)).toEqual(all);
  expect(await found((id) => id !== master)).toEqual(all.slice(3));
  expect([store.isAtHand, store.pending]).toEqual([true, undefined]);
  rmSync(folder, { recursive: true });
});

describe("the applications of the local scheduler", () => {
  let environment: Record<string, string>;
  const submittedMs = 1_795_305_600_000;
  const weekMs = 7 * 86_400_000;
  beforeEach(() => {
    environment = { XDG_STATE_HOME: mkdtempSync(path.join(tmpdir(), "local-applications-")) };
  });
  afterEach(() => rmSync(environment.XDG_STATE_HOME ?? "", { recursive: true }));
  const at = (nowMs: number) => new LocalApplications(environment, "ada", () => nowMs);
  const submit = (nowMs: number) => newLocalFolder(localRoot(environment), nowMs);

  test("have names of their own, also where two are submitted at the same moment, and are told the newest first", async () => {
    const ids = [submit(submittedMs).id, submit(submittedMs).id, submit(submittedMs + 1).id];
    expect(ids.map((id) => id.slice(-6))).toEqual(["0_0001", "0_0002", "1_0001"]);
    const reports = await at(submittedMs).reports({});
    expect(reports.map(({ id }) => id)).toEqual(ids.toReversed());
    expect((await at(submittedMs).reports({ limit: 2 })).map(({ id }) => id)).toEqual(ids.toReversed().slice(0, 2));
    expect(await at(submittedMs).reports({ states: ["RUNNING"] })).toEqual([]);
    mkdirSync(path.join(localRoot(environment), "local_of_somebody"));
    expect(await at(submittedMs).reports({ states: ["ACCEPTED"] })).toHaveLength(3);
  });

  test("wait for their ApplicationMaster alone", async () => {
    expect(await at(submittedMs).waitingReason()).toEqual({ code: "am-starting" });
  });

  test("have the logs of their own folders", async () => {
    const { id, folder } = submit(submittedMs);
    mkdirSync(path.join(folder, "am", "logs"), { recursive: true });
    writeFileSync(path.join(folder, "am", "logs", "am.log"), "began");
    const store = at(submittedMs).logStore(await at(submittedMs).report(id));
    const names: string[] = [];
    for await (const { name } of store.logs(() => true)) names.push(name);
    expect(names).toEqual(["am.log"]);
  });

  test("whose files cannot be read are an error, not a job without them", async () => {
    const { id, folder } = submit(submittedMs);
    mkdirSync(path.join(folder, "am-1.json"));
    await expect(at(submittedMs).report(id)).rejects.toMatchObject({ code: "EISDIR" });
  });

  test("keep their folders for a week from their submission, and longer as long as they run", async () => {
    const [ended, running, younger] = [submit(submittedMs), submit(submittedMs), submit(submittedMs + 1)];
    const master = spawn("sleep", ["600"], { argv0: path.join(running.folder, "am", "am.cjs"), stdio: "ignore" });
    writeFileSync(path.join(running.folder, localFiles.pid), String(master.pid));
    await at(submittedMs + weekMs - 1).sweep();
    expect([existsSync(ended.folder), existsSync(running.folder)]).toEqual([true, true]);
    await at(submittedMs + weekMs).sweep();
    expect([ended, running, younger].map((one) => existsSync(one.folder))).toEqual([false, true, true]);
    master.kill("SIGKILL");
  });

  test("end as their AM told, when it told it", async () => {
    const { id, folder } = submit(submittedMs);
    const outcome = { ...allSucceeded, endedAtMs: submittedMs + 8_000 };
    const status = aJobStatus({ outcome, state: "succeeded", nowMs: submittedMs + 9_000 });
    writeFileSync(path.join(folder, localFiles.status), JSON.stringify(status));
    writeFileSync(path.join(folder, localFiles.killed), "too late");
    expect(await at(submittedMs + 1_000).report(id)).toEqual({
      id,
      user: "ada",
      name: "",
      queue: "local",
      type: "TONY",
      tags: [],
      state: "FINISHED",
      finalStatus: "SUCCEEDED",
      trackingUrl: "",
      diagnostics: allSucceeded.summary,
      startTimeMs: submittedMs,
      launchTimeMs: submittedMs,
      finishTimeMs: submittedMs + 9_000,
      progress: 1,
      priority: 0,
    });
    expect(await at(submittedMs).finalStatus(await at(submittedMs).report(id))).toEqual(status);
  });

  test("are unknown where they have no folder", async () => {
    await expect(at(submittedMs).report("local_1795305600000_0001")).rejects.toMatchObject({
      code: "APPLICATION_NOT_FOUND",
      message: `There is no local_1795305600000_0001 in ${localRoot(environment)}`,
    });
    expect(await at(submittedMs).reports({})).toEqual([]);
  });

  test("are not taken to run where another process has got the number of theirs", async () => {
    const { id, folder } = submit(submittedMs);
    writeFileSync(path.join(folder, localFiles.pid), String(process.pid));
    await at(submittedMs).kill(id, "enough of it");
    expect(await at(submittedMs).report(id)).toMatchObject({
      state: "FAILED",
      diagnostics: "The AM ended without telling an outcome",
      finishTimeMs: 0,
      progress: 0,
    });
  });

  test("are reached by the address and the credentials that lie in their folders, once both do", async () => {
    const { id, folder } = submit(submittedMs);
    const contact = async () => at(submittedMs).contact(await at(submittedMs).report(id));
    const address = (content: object) => writeFileSync(path.join(folder, "am-1.json"), JSON.stringify(content));
    address({ host: "localhost", port: 4711 });
    expect(await contact()).toBeUndefined();
    expect(at(submittedMs).noContactReason()).toBe("it has not published its address yet");
    const access = clientAccess(identity);
    writeFileSync(path.join(folder, clientAccessFile), JSON.stringify(formatClientAccess(access)));
    expect(await contact()).toEqual({ attempt: 1, host: "localhost", port: 4711, access });
    expect(await at(submittedMs).report(id)).toMatchObject({ amHost: "localhost", amRpcPort: 4711 });
    address([]);
    expect(await at(submittedMs).report(id)).not.toHaveProperty("amHost");
    writeFileSync(path.join(folder, "am-1.json"), "null");
    expect(await contact()).toBeUndefined();
    for (const none of [
      { host: "localhost" },
      { port: 4711 },
      { host: "localhost", port: "4711" },
      { host: 1, port: 4711 },
    ]) {
      address(none);
      expect(await contact()).toBeUndefined();
    }
  });

  test("keep what their job says of its history and checkpoints", async () => {
    const { id, folder } = submit(submittedMs);
    const local = at(submittedMs);
    const job = (spec: object) => writeFileSync(path.join(folder, jobFileName), JSON.stringify({ spec }));
    expect([local.keptHistory(id), await local.checkpointDir(id)]).toEqual([undefined, undefined]);
    job(aJobSpec({ checkpointDir: "/ckpt" }));
    expect(local.keptHistory(id)).toEqual({ folder: path.join(local.folder(id), "history") });
    expect(await local.checkpointDir(id)).toBeUndefined();
    const history = { timeZone: "UTC", location: "file:///history" };
    const carrier = { checkpoints: { localDir: "checkpoints", keep: 1 }, outputRequired: false, timeoutMs: 60_000 };
    job(aJobSpec({ checkpointDir: "/ckpt", history, carrier }));
    expect(local.keptHistory(id)).toEqual({ settings: history });
    expect(await local.checkpointDir(id)).toBe("/ckpt");
    job({ ...aJobSpec(), specVersion: 99 });
    expect(local.keptHistory(id)).toBeUndefined();
    expect(await local.report(id)).toMatchObject({ name: "" });
    writeFileSync(path.join(folder, jobFileName), "null");
    expect(await local.report(id)).toMatchObject({ name: "" });
  });

  test("leave their logs when they have ended, and it is said for how long", async () => {
    const { id, folder } = submit(submittedMs);
    expect(await at(submittedMs).clean(id)).toBe(
      `its processes have ended; its logs are kept for 7 days: tony-ts logs ${id}`,
    );
    expect(existsSync(folder)).toBe(true);
  });

  test("have folders that are their owner's alone, in one that can be made", async () => {
    const { folder } = submit(submittedMs);
    expect([folder, localRoot(environment)].map((one) => statSync(one).mode & 0o777)).toEqual([0o700, 0o700]);
    expect(rootRefusal(localRoot(environment))).toBeUndefined();
    expect(rootRefusal(path.join(folder, "not", "there"))).toBeUndefined();
    const file = path.join(folder, "file");
    writeFileSync(file, "");
    expect(rootRefusal(path.join(file, "below"))).toMatch(/ENOTDIR/);
    expect(() => newLocalFolder(path.join(file, "below"), submittedMs)).toThrow(
      expect.objectContaining({
        code: "FOLDER_REFUSED",
        exitCode: 3,
        message: expect.stringMatching(
          /^The folder of this machine's jobs cannot be made: .*\n {2}Set HOME or XDG_STATE_HOME to a folder that you can write to$/,
        ),
      }),
    );
  });

  test("are on file systems that are opened once", async () => {
    const local = at(submittedMs);
    const fileSystems = await local.fileSystems();
    expect(await local.fileSystems()).toBe(fileSystems);
    const closed = jest.spyOn(fileSystems, "close");
    local.close();
    expect(closed).toHaveBeenCalledTimes(1);
  });

  test("have failed where their AM has ended, also in their first minute", async () => {
    const { id, folder } = submit(submittedMs);
    const { pid } = spawnSync("true");
    writeFileSync(path.join(folder, localFiles.pid), String(pid));
    expect(await at(submittedMs + 1_000).report(id)).toMatchObject({ state: "FAILED" });
  });
});

describe("an application of the local scheduler whose AM tells no outcome", () => {
  let environment: Record<string, string>;
  beforeEach(() => {
    environment = { XDG_STATE_HOME: mkdtempSync(path.join(tmpdir(), "local-applications-")) };
  });
  afterEach(() => rmSync(environment.XDG_STATE_HOME ?? "", { recursive: true }));

  /** Its AM is a process that ends at once of the first signal, as Node does until a program takes signals. */
  function started() {
    const { id, folder } = newLocalFolder(localRoot(environment), 1_795_305_600_000);
    const master = spawn("sleep", ["600"], { argv0: path.join(folder, "am", "am.cjs"), stdio: "ignore" });
    writeFileSync(path.join(folder, localFiles.pid), String(master.pid));
    return { id, folder, master, applications: new LocalApplications(environment, "ada", () => 1_795_305_660_000) };
  }

  test("holds all that its job asks for while it runs", async () => {
    const { id, folder, master, applications } = started();
    const spec = jobSpec([role("worker", 2), role("ps", 1)]);
    writeFileSync(path.join(folder, jobFileName), JSON.stringify({ spec: { ...spec, name: "bert" } }));
    expect(await applications.report(id)).not.toHaveProperty("usage");
    writeFileSync(path.join(folder, "am-1.json"), JSON.stringify({ host: "localhost", port: 1 }));
    const { containers: usedContainers, resource: used } = wholeJob(spec);
    const held = { memorySeconds: used.memoryMiB * 60, vcoreSeconds: used.vcores * 60 };
    const usage = { usedContainers: 4, used, needed: used, ...held, resourceSeconds: {} };
    expect(await applications.report(id)).toMatchObject({ state: "RUNNING", name: "bert", usage });
    expect(usedContainers).toBe(4);
    master.kill("SIGKILL");
    await once(master, "exit");
    expect(await applications.report(id)).not.toHaveProperty("usage");
  });

  test("has not failed while it is submitted, and has when that did not come to an end", async () => {
    const { id } = newLocalFolder(localRoot(environment), 1_795_305_600_000);
    const after = (elapsedMs: number) => new LocalApplications(environment, "ada", () => 1_795_305_600_000 + elapsedMs);
    expect(await after(20_000).report(id)).toMatchObject({ state: "ACCEPTED", diagnostics: "" });
    expect(await after(60_000).report(id)).toMatchObject({ state: "FAILED" });
  });

  test("was killed, for the reason that was given, if it was told to end before it took signals", async () => {
    const { id, folder, master, applications } = started();
    const starting = { state: "ACCEPTED", finalStatus: "UNDEFINED", diagnostics: "" };
    expect(await applications.report(id)).toMatchObject(starting);
    const told = path.join(folder, localFiles.killed);
    writeFileSync(told, "enough of it");
    expect(await applications.report(id)).toMatchObject(starting);
    rmSync(told);

    const ended = once(master, "exit");
    await applications.kill(id, "enough of it");
    expect(await ended).toEqual([null, "SIGTERM"]);
    expect(statSync(told).mode & 0o777).toBe(0o600);
    const report = { state: "KILLED", finalStatus: "KILLED", diagnostics: "enough of it" };
    expect(await applications.report(id)).toMatchObject(report);
  });

  test("has failed, with the last that it wrote, if it ended by itself", async () => {
    const { id, folder, master, applications } = started();
    mkdirSync(path.join(folder, "am", "logs"), { recursive: true });
    const lines = Array.from({ length: 10 }, (_, index) => `line ${index}`);
    writeFileSync(path.join(folder, "am", "logs", "stderr"), `no such module\n${lines.join("\n")}\n`);

    const ended = once(master, "exit");
    master.kill("SIGKILL");
    await ended;
    const report = {
      state: "FAILED",
      finalStatus: "FAILED",
      diagnostics: `The AM ended without telling an outcome:\n${lines.join("\n")}`,
    };
    expect(await applications.report(id)).toMatchObject(report);
    expect(await applications.finalStatus(await applications.report(id))).toBeUndefined();
    await applications.kill(id, "too late");
    expect(await applications.report(id)).toMatchObject(report);
  });

  test("is told as the AM last left it where it is a search, whose trials have ended all the same", async () => {
    const { id, folder, master, applications } = started();
    const search = { metric: "loss", direction: "minimize", parameters: ["lr"], command: "true" } as const;
    writeFileSync(path.join(folder, "left-status.json"), JSON.stringify(aJobStatus({ search })));
    expect(await applications.finalStatus(await applications.report(id))).toBeUndefined();
    const ended = once(master, "exit");
    master.kill("SIGKILL");
    await ended;
    const status = await applications.finalStatus(await applications.report(id));
    expect(status).toMatchObject({ state: "failed", search, outcome: { result: "failed" } });
  });
});

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { LocalApplications } from "../../../client/applications/local-applications.ts";
import { localFiles, localRoot, newLocalFolder } from "../../../client/applications/local-folder.ts";
import { LocalLogStore } from "../../../client/applications/local-log-store.ts";
import { wholeJob } from "../../../src/job/amounts.ts";
import { jobFileName } from "../../../src/job/stored/stored-job.ts";
import { jobSpec, role } from "../../simulation/job.ts";
import { aJobStatus } from "../job-status.ts";

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

test("a log that is not wanted is passed over", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "local-logs-"));
  const [master, task] = ["container_1795305600000_0001_01_000001", "container_1795305600000_0001_01_000002"];
  for (const logs of ["am/logs", `containers/${task}/logs`]) {
    mkdirSync(path.join(folder, logs), { recursive: true });
    writeFileSync(path.join(folder, logs, "stdout"), "printed");
  }
  const found: string[] = [];
  const store = new LocalLogStore("local_1795305600000_0001", folder);
  for await (const { containerId } of store.logs((id) => id !== master)) found.push(containerId);
  expect(found).toEqual([task]);
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
  });

  test("keep their folders for a week from their submission, and longer as long as they run", async () => {
    const [ended, running] = [submit(submittedMs), submit(submittedMs)];
    const master = spawn("sleep", ["600"], { argv0: path.join(running.folder, "am", "am.cjs"), stdio: "ignore" });
    writeFileSync(path.join(running.folder, localFiles.pid), String(master.pid));
    await at(submittedMs + weekMs - 1).sweep();
    expect([existsSync(ended.folder), existsSync(running.folder)]).toEqual([true, true]);
    await at(submittedMs + weekMs).sweep();
    expect([existsSync(ended.folder), existsSync(running.folder)]).toEqual([false, true]);
    master.kill("SIGKILL");
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
    expect(await applications.report(id)).toMatchObject({ name: "bert", usage: { usedContainers: 4, used } });
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
    const { id, master, applications } = started();
    expect(await applications.report(id)).toMatchObject({ state: "ACCEPTED", diagnostics: "" });

    const ended = once(master, "exit");
    await applications.kill(id, "enough of it");
    await ended;
    const report = { state: "KILLED", finalStatus: "KILLED", diagnostics: "enough of it" };
    expect(await applications.report(id)).toMatchObject(report);
  });

  test("has failed, with the last that it wrote, if it ended by itself", async () => {
    const { id, folder, master, applications } = started();
    mkdirSync(path.join(folder, "am", "logs"), { recursive: true });
    writeFileSync(path.join(folder, "am", "logs", "stderr"), "no such module\n");

    const ended = once(master, "exit");
    master.kill("SIGKILL");
    await ended;
    const report = { state: "FAILED", diagnostics: "The AM ended without telling an outcome:\nno such module" };
    expect(await applications.report(id)).toMatchObject(report);
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

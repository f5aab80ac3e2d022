import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { parseArguments } from "../../../client/command-line/arguments.ts";
import { submit } from "../../../client/commands/submit.ts";
import { jobFileName } from "../../../src/job/stored/stored-job.ts";
import { eventually } from "../../support/eventually.ts";
import type { StandInManager } from "../stand-in-manager.ts";
import { recordedContext } from "../support.ts";
import type { LocalMachine } from "./local-machine.ts";
import { machineOnCluster } from "./machine-on-cluster.ts";

// Loaded before the command does so, several at once, which Jest's loader cannot.
import "../../../client/submission/dry-run.ts";
import "../../../client/submission/resume-point.ts";
import "../../support/loaded-client.ts";

const tag = "--application-tag takes up to 100 letters, digits and punctuation of ASCII, without spaces and commas";

test.each([
  [["--dry-run", "--detach"], "--dry-run submits nothing, so there is no job to leave with --detach"],
  [["--name", " "], "--name needs a value"],
  [["--queue", ""], "--queue needs a value"],
  [["--resume-from", ""], "--resume-from needs a value"],
  [["--application-tag", "a,b"], tag],
  [["--application-tag", "a b"], tag],
  [["--application-tag", "é"], tag],
  [["--application-tag", "x".repeat(101)], tag],
  [["--scheduler", "local", "--queue", "ml"], "--queue has no effect with --scheduler local: leave one of them out"],
  [
    ["--scheduler", "local", "--application-tag", "nightly"],
    "--application-tag has no effect with --scheduler local: leave one of them out",
  ],
])("submit %j is refused before the job is read", async (words, message) => {
  const parsed = await parseArguments(["submit", ...words, "gone.xml"], [submit]);
  if ("text" in parsed) throw new Error(parsed.text);
  await expect(parsed.run(recordedContext({}))).rejects.toMatchObject({ message, exitCode: 2 });
});

describe("tony-ts submit on a cluster", () => {
  const id = "application_1795305600000_0001";
  let machine: LocalMachine;
  let manager: StandInManager;
  const inFolder = (name: string) => path.join(machine.folder, name);
  beforeEach(async () => {
    ({ machine, manager } = await machineOnCluster());
    const properties = {
      "tony.application.name": "bert",
      "tony.application.framework": "generic",
      "tony.worker.instances": "2",
      "tony.worker.memory": "1g",
      "tony.worker.command": "true",
      "tony.staging-dir": `file://${inFolder("staging")}`,
      "tony.node.binary": "local:/opt/node",
    };
    const xml = Object.entries(properties).map(
      ([name, value]) => `<property><name>${name}</name><value>${value}</value></property>`,
    );
    writeFileSync(inFolder("job.xml"), `<configuration>${xml.join("")}</configuration>`);
  });
  /** Nothing that the command opened may still be open. */
  afterEach(async () => {
    await eventually("all to leave the ResourceManager", () => manager.callers === 0, 3_000);
    await manager.stop();
    await machine.dispose();
  });

  const run = (...words: readonly string[]) => machine.run("submit", "job.xml", ...words);

  test("follows the job to its end, and exits as it does", async () => {
    expect(await run()).toMatchObject({ exitCode: 0, out: expect.stringContaining("SUCCEEDED") });
    manager.taken = { ...manager.taken, finalStatus: "FAILED" };
    expect((await run()).exitCode).toBe(1);
    expect(manager.submitted).toMatchObject([{ queue: "default" }, { application_name: "bert" }]);
  });

  test("with --json prints events, the last of which is the end", async () => {
    const events = await machine.json("submit", "job.xml");
    expect(events).toMatchObject({ 0: { event: expect.not.stringContaining("end") } });
    expect(Array.isArray(events) && events.at(-1)).toMatchObject({ event: "end", exitCode: 0 });
  });

  test("with --detach prints the id, and leaves the job", async () => {
    manager.taken = { state: "ACCEPTED" };
    expect(await run("--detach")).toMatchObject({ exitCode: 0, out: `${id}\n` });
    expect(manager.killed).toEqual([]);
  });

  test("with --dry-run submits nothing", async () => {
    const { exitCode, out } = await run("--dry-run");
    expect(exitCode).toBe(0);
    expect(out).toContain("bert");
    expect(manager.submitted).toEqual([]);
    expect(await machine.json("submit", "job.xml", "--dry-run")).toMatchObject({ dryRun: true });
  });

  test.each([
    [["--name", "try-2"], { name: "try-2" }],
    [["--queue", "ml"], { queue: "ml" }],
    [["--priority", "3"], { priority: 3 }],
    [["--conf", "tony.worker.instances=3"], { roles: [expect.objectContaining({ instances: 3 })] }],
    [["--env", "A=1"], { roles: [expect.objectContaining({ environment: { A: "1" } })] }],
    [["--application-tag", "Nightly"], { tags: ["nightly"] }],
    [["--resume-from", "file:///checkpoints/9"], { resumeFrom: "file:///checkpoints/9" }],
  ])("%j is heeded", async (words, spec) => {
    let stored: unknown;
    manager.onSubmit = () =>
      (stored = JSON.parse(readFileSync(path.join(inFolder("staging"), id, jobFileName), "utf8")));
    expect((await run(...words)).exitCode).toBe(0);
    expect(stored).toMatchObject({ spec });
  });

  test("with --resume-from of a job that nobody knows nothing is submitted", async () => {
    const { exitCode, err } = await run("--resume-from", "application_1_0009");
    expect([exitCode, err]).toEqual([3, expect.stringContaining("application_1_0009")]);
    expect(manager.submitted).toEqual([]);
  });

  test("with --strict a warning is an error", async () => {
    const doubtful = ["--conf", "tony.default.jvm.opts=-Xmx1g"];
    expect((await run(...doubtful)).exitCode).toBe(0);
    expect((await run(...doubtful, "--strict")).exitCode).toBe(2);
    expect(manager.submitted).toHaveLength(1);
  });

  test("output of a task that the job does not have is refused", async () => {
    const { exitCode, err } = await run("--logs", "worker:2");
    expect([exitCode, err]).toEqual([2, expect.stringContaining("worker:2")]);
    expect(manager.submitted).toEqual([]);
  });

  test("with --scheduler local this machine is asked, and no cluster", async () => {
    const { exitCode, err } = await run("--scheduler", "local", "--conf", "tony.worker.memory=9000000g");
    expect([exitCode, err]).toEqual([3, expect.stringContaining("this machine")]);
    expect(manager.submitted).toEqual([]);
  });

  test("a job with the same tag is followed instead, which Ctrl-C ends where it is the caller's own", async () => {
    manager.taken = { state: "ACCEPTED" };
    await run("--detach", "--application-tag", "nightly");
    const followed = machine.start("submit", "job.xml", "--application-tag", "NIGHTLY", "--own");
    await followed.err.waitFor(`${id} has the tag nightly and has not ended: nothing was submitted\n`);
    await followed.err.waitFor("Ctrl-C ends the job.");
    process.emit("SIGINT", "SIGINT");
    expect((await followed.ended).exitCode).toBe(4);
    expect([manager.submitted.length, manager.killed.length]).toEqual([1, 1]);
  });
});

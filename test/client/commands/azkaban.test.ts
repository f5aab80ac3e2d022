import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ownerName } from "../../../src/hadoop/process-owner.ts";
import { jobFileName } from "../../../src/job/stored/stored-job.ts";
import { aReport } from "../application-report.ts";
import type { StandInManager } from "../stand-in-manager.ts";
import type { LocalMachine } from "./local-machine.ts";
import { machineOnCluster } from "./machine-on-cluster.ts";

// Loaded before the command does so, several at once, which Jest's loader cannot.
import "../../../client/azkaban/flow-view.ts";
import "../../../client/azkaban/job-properties.ts";
import "../../../client/azkaban/output-properties.ts";
import "../../support/loaded-client.ts";

const id = "application_1795305600000_0001";

let machine: LocalMachine;
let manager: StandInManager;
const inFolder = (name: string) => path.join(machine.folder, name);
beforeEach(async () => {
  ({ machine, manager } = await machineOnCluster());
  machine.environment = {
    ...machine.environment,
    JOB_PROP_FILE: inFolder("props"),
    JOB_OUTPUT_PROP_FILE: inFolder("output"),
  };
});
afterEach(async () => {
  await manager.stop();
  await machine.dispose();
});

/** As Azkaban writes them. */
function properties(changes: Readonly<Record<string, string>> = {}): void {
  const all = {
    "tony.application.name": "bert",
    "tony.application.framework": "generic",
    "tony.worker.instances": "1",
    "tony.worker.command": "true",
    "tony.staging-dir": `file://${inFolder("staging")}`,
    "tony.node.binary": "local:/opt/node",
    "azkaban.flow.execid": "12",
    "azkaban.job.id": "train",
    ...changes,
  };
  const lines = Object.entries(all).map(([key, value]) => `${key}=${value}\n`);
  writeFileSync(inFolder("props"), lines.join(""), "latin1");
}

/** What is stored of a job when the cluster takes it. */
function watchStored(): string[] {
  const stored: string[] = [];
  manager.onSubmit = () => stored.push(readFileSync(path.join(inFolder("staging"), id, jobFileName), "utf8"));
  return stored;
}

describe("tony-ts azkaban", () => {
  test("submits the job that the properties describe, follows it, and tells the flow how it ended", async () => {
    properties();
    const { exitCode, out } = await machine.run("azkaban");
    expect(exitCode).toBe(0);
    expect(out).toMatch(new RegExp(`^Submitted application ${id}$`, "m"));
    expect(out).toContain("SUCCEEDED");
    expect(manager.submitted).toMatchObject([
      { applicationTags: ["azkaban.flow.execid:12", expect.stringMatching(/^tony-ts:azkaban:[0-9a-f]{32}$/)] },
    ]);
    expect(JSON.parse(readFileSync(inFolder("output"), "utf8"))).toEqual({
      "tonyts.application.id": id,
      "tonyts.final.status": "SUCCEEDED",
      "tonyts.summary": expect.any(String),
      "tonyts.tracking.url": "",
    });
  });

  test("exits as the job does, and tells the flow of a failure too", async () => {
    manager.taken = { ...manager.taken, finalStatus: "FAILED" };
    properties();
    expect((await machine.run("azkaban")).exitCode).toBe(1);
    expect(JSON.parse(readFileSync(inFolder("output"), "utf8"))).toMatchObject({ "tonyts.final.status": "FAILED" });
  });

  test("sends the folder src of the job's folder, and reads properties as Java writes them", async () => {
    mkdirSync(inFolder("src"));
    writeFileSync(inFolder("src/train.py"), "");
    properties({ "tony.application.name": "bärt \\u20ac", "tony.default.jvm.opts": "-Xmx1g" });
    const stored = watchStored();
    const { err } = await machine.run("azkaban");
    expect(err).toContain("tony.default.jvm.opts has no effect: there is no JVM\n");
    expect(stored.map((text) => JSON.parse(text))).toMatchObject([
      { spec: { name: "bärt €", files: [expect.objectContaining({ source: inFolder("src") })] } },
    ]);
  });

  test("follows what an earlier try of the same job left running, and submits nothing; SIGTERM ends that", async () => {
    properties();
    await machine.run("azkaban");
    const [{ applicationTags = [] } = {}] = manager.submitted;
    const other = "application_1795305600000_0900";
    const tags = [...(applicationTags ?? [])];
    const url = "http://rm:8088/proxy/a/";
    manager.applications = [
      aReport({ id: other, user: ownerName(), state: "ACCEPTED", tags, startTimeMs: 1, trackingUrl: url }),
    ];
    const retried = machine.start("azkaban");
    await retried.out.waitFor(`Submitted application ${other}\n`);
    await retried.out.waitFor(`Tracking URL: ${url}\n`);
    process.emit("SIGTERM", "SIGTERM");
    expect((await retried.ended).exitCode).toBe(4);
    expect(manager.killed).toMatchObject([{ id: other, reason: expect.stringContaining("SIGTERM") }]);
    expect(manager.submitted).toHaveLength(1);
    expect(JSON.parse(readFileSync(inFolder("output"), "utf8"))).toMatchObject({
      "tonyts.application.id": other,
      "tonyts.tracking.url": url,
    });
  });

  test("is another job with each execution, and one that is none of a flow has no tag for that", async () => {
    properties({ "azkaban.flow.execid": "" });
    await machine.run("azkaban");
    expect(manager.submitted).toMatchObject([{ applicationTags: [] }]);
  });

  test.each([
    ["where none is wanted", ""],
    ["where it cannot be written", "/nowhere/output"],
  ])("exits as the job does %s", async (_where, file) => {
    properties();
    machine.environment = { ...machine.environment, JOB_OUTPUT_PROP_FILE: file };
    const { exitCode, err } = await machine.run("azkaban");
    expect(exitCode).toBe(0);
    const said = "The properties for the next jobs of the flow could not be written: ";
    expect(err.includes(said)).toBe(file !== "");
  });

  test.each([
    {
      what: "is for flows",
      file: "",
      message:
        "tony-ts azkaban is what Azkaban runs for a job of the type tony-ts: JOB_PROP_FILE is not set\n  To run a job yourself: tony-ts submit job.xml\n",
    },
    { what: "names properties that are not there", file: "/nowhere/props", message: "No such file: /nowhere/props\n" },
  ])("$what: refused", async ({ file, message }) => {
    machine.environment = { ...machine.environment, JOB_PROP_FILE: file };
    expect(await machine.run("azkaban")).toEqual({ exitCode: 2, out: "", err: message });
  });
});

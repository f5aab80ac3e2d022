import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { LogSelection } from "../../../client/logs/log-selection.ts";
import { dryRun, verdict } from "../../../client/submission/dry-run.ts";
import { JobCluster } from "../../../client/submission/job-cluster.ts";
import { ExitCode } from "../../../src/errors.ts";
import type { JobText } from "../../../src/job/build/load-job.ts";
import { StandInCluster } from "./stand-in-cluster.ts";

import "../../support/loaded-client.ts";

test("a rehearsal says that every check passed only where none warns", () => {
  const warning = { severity: "warning", message: "there is no queue mll", at: "job.xml:3" } as const;
  expect(verdict([])).toBe("every check passed");
  expect(verdict([warning])).toBe("no errors, 1 warning");
  expect(verdict([warning, warning])).toBe("no errors, 2 warnings");
});

let there: StandInCluster;
beforeEach(async () => {
  there = await StandInCluster.start();
});
afterEach(() => there.stop());

const lead: LogSelection = { kind: "lead" };

async function rehearse(
  text: JobText,
  { local = false, json = false, logs = lead }: { local?: boolean; json?: boolean; logs?: LogSelection } = {},
  place = new JobCluster(text, there.context),
): Promise<string> {
  const { context } = there;
  context.out.text = "";
  try {
    const exitCode = await dryRun(text, { local, json, logs }, context, place);
    expect(exitCode).toBe(ExitCode.succeeded);
    return context.out.text.trimEnd();
  } finally {
    await place.close();
  }
}

describe("a rehearsal of a submission", () => {
  test("says what would be asked for and uploaded, and does neither", async () => {
    const job = there.job({ "tony.containers.resources": there.file("data.txt", "data"), "tony.yarn.queue": "ml" });
    expect((await rehearse(job)).split("\n")).toEqual([
      expect.stringMatching(/^bert · queue ml · AM \(.*\), worker × 2 \(1 GiB, 1 core\)$/),
      expect.stringMatching(/^ {2}asks for {5}3 containers: [\d.]+ GiB, 3 cores$/),
      expect.stringMatching(/^ {2}would upload tony-ts runtime [\d.]+ MiB · data.txt 4 B$/),
      "Nothing was uploaded or submitted; every check passed",
    ]);
    expect([there.cached(), there.applications(), there.manager.submitted]).toEqual([[], [], []]);
  });

  test("says what feeds come to, and what is said of folders that are packed, once", async () => {
    const sources = path.join(there.folder, "sources");
    mkdirSync(path.join(sources, ".git"), { recursive: true });
    writeFileSync(path.join(sources, "rows.txt"), "a\nb\n");
    const resource = `${sources}#archive`;
    const ps = { "tony.ps.resources": resource, "tony.ps.instances": "1", "tony.ps.command": "true" };
    const feed = { "tony.feed.train.input": `file://${sources}/rows.txt`, "tony.feed.train.format": "lines" };
    const lines = (await rehearse(there.job({ "tony.worker.resources": resource, ...ps, ...feed }))).split("\n");
    expect(lines[0]).toMatch(/ AM \(1 GiB, 1 core\), /);
    expect(lines).toContain("  feed train: 1 file, 4 B, 1 split");
    expect(lines.filter((line) => line.includes("left out: .git"))).toHaveLength(1);
  });

  test("believes what is stated of files on file systems that nobody here speaks", async () => {
    const stated = { "tony.application.file-status": "gs://bucket/x.bin 9 1600000000000" };
    const lines = await rehearse(there.job({ "tony.containers.resources": "gs://bucket/x.bin", ...stated }));
    expect(lines).toMatch(/ · 9 B are cached$/m);
  });

  test("refuses logs of a task that the job does not have", async () => {
    const logs = { kind: "named", names: ["worker:2"] } as const;
    await expect(rehearse(there.job(), { logs })).rejects.toThrow("worker:2");
  });

  test("tells warnings, and refuses what a submission would", async () => {
    expect(await rehearse(there.job({ "tony.yarn.queue": "mll" }))).toMatch(/no errors, 1 warning$/);
    expect(there.context.err.text).toMatch(/there is no queue mll: did you mean ml\?/);
    await expect(rehearse(there.job({ "tony.worker.node-label": "gpu" }))).rejects.toMatchObject({
      code: "CLUSTER_REFUSES",
    });
  });

  test("counts what logs in by a keytab among what would be uploaded", async () => {
    class SecuredCluster extends JobCluster {
      override async open(): ReturnType<JobCluster["open"]> {
        const opened = await super.open();
        Object.assign(opened.cluster, { isSecured: true });
        return opened;
      }
    }
    const job = there.job({
      ...{ "hadoop.rpc.protection": "privacy", "dfs.http.policy": "HTTPS_ONLY" },
      ...{ "tony.kerberos.ship-keytab": "true", "tony.kerberos.principal": "ada@EXAMPLE" },
      "tony.kerberos.keytab": there.file("ada.keytab", "keys"),
    });
    const json: unknown = JSON.parse(await rehearse(job, { json: true }, new SecuredCluster(job, there.context)));
    expect(json).toMatchObject({ files: expect.arrayContaining([expect.objectContaining({ link: "tokens.cjs" })]) });
  });

  test("has the same for programs", async () => {
    const json: unknown = JSON.parse(await rehearse(there.job({ "tony.yarn.queue": "mll" }), { json: true }));
    expect(json).toMatchObject({
      dryRun: true,
      asks: { containers: 3, vcores: 3 },
      spec: { name: "bert" },
      problems: [{ severity: "warning" }],
      files: expect.arrayContaining([expect.objectContaining({ link: "am.cjs", cached: false, remarks: [] })]),
      feeds: [],
    });
    expect(there.context.err.text).not.toMatch(/mll/);
  });

  test("on this machine refuses what a submission there would", async () => {
    const feed = { "tony.feed.train.input": "file:///none", "tony.feed.train.format": "lines" };
    await expect(rehearse(there.job(feed), { local: true })).rejects.toThrow("which does not exist");
  });

  test("on this machine uploads nothing, and has no queue", async () => {
    const lines = (await rehearse(there.job(), { local: true })).split("\n");
    expect(lines[0]).toMatch(/^bert · on this machine · /);
    expect(lines).toHaveLength(3);
    expect(JSON.parse(await rehearse(there.job(), { local: true, json: true }))).toMatchObject({ files: [] });
  });
});

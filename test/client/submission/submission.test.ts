import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { clusterOf } from "../../../client/cluster/cluster.ts";
import type { WaitBlock } from "../../../client/output/output.ts";
import { uploadName } from "../../../client/shipping/uploads.ts";
import { checkOffline } from "../../../client/submission/check-offline.ts";
import { submitToCluster } from "../../../client/submission/submission.ts";
import type { JobText } from "../../../src/job/build/load-job.ts";
import { aNode, environmentOf, StandInCluster } from "./stand-in-cluster.ts";

const id = "application_1795305600000_0001";

let there: StandInCluster;
beforeEach(async () => {
  there = await StandInCluster.start();
});
afterEach(() => there.stop());

/** What a person is told meanwhile: names of jobs, and lines of the upload. */
async function submit(text: JobText, stop = new AbortController(), stopAt?: "named" | "uploaded") {
  const { context } = there;
  const told: string[] = [];
  const shown: string[] = [];
  const tell = (what: "named" | "uploaded", words: string) => {
    told.push(words);
    if (what === stopAt) stop.abort("Ctrl-C");
  };
  const cluster = await clusterOf(text, context);
  const listener = {
    named: (named: string) => tell("named", named),
    uploading: (block: WaitBlock) => {
      shown.push(block.line);
      context.output.wait(block);
    },
    uploaded: (line: string) => tell("uploaded", line.trim()),
  };
  try {
    const draft = checkOffline(text, { kind: "lead" }, context);
    return { told, shown, submitted: await submitToCluster(text, draft, context, cluster, listener, stop.signal) };
  } finally {
    cluster.close();
  }
}

describe("a job that is submitted", () => {
  test("has its files in a folder of its own, which its owner alone may read, and its hashes in its environment", async () => {
    const { submitted, told } = await submit(there.job({ "tony.yarn.queue": "ml" }));
    expect(submitted).toMatchObject({ id, spec: { name: "bert", queue: "ml" }, access: { applicationId: id } });
    expect(told).toEqual([id, expect.stringMatching(/^upload {2}tony-ts runtime \d/)]);
    expect(there.staged(id)).toEqual(["client.json", "job.json", "nodes.json", "tony-final.xml"]);
    for (const name of ["client.json", "job.json", "nodes.json"]) expect(there.read(id, name).permission).toBe(0o600);
    expect(there.read(id, "job.json").json).toMatchObject({
      applicationId: id,
      node: "/opt/node",
      stagingUrl: `file://${there.staging}/${id}`,
      spec: { roles: [{ name: "worker", instances: 2 }] },
    });
    expect(there.read(id, "client.json").json).toMatchObject({ submitter: { pid: process.pid } });
    const [application] = there.manager.submitted;
    expect(application).toMatchObject({ application_name: "bert", queue: "ml", applicationType: "TONY" });
    expect(environmentOf(application ?? {})).toMatchObject({
      TONY_JOB_SHA256: there.sha256(id, "job.json"),
      TONY_NODES_SHA256: there.sha256(id, "nodes.json"),
    });
  });

  test("knows the nodes that run, and those that would be the only ones of a label", async () => {
    there.manager.nodes = [
      aNode("n1"),
      aNode("n2", { state: "LOST" }),
      aNode("n3", { state: "LOST", labels: ["gpu"] }),
    ];
    await submit(there.job());
    expect(there.read(id, "nodes.json").json).toMatchObject([{ host: "n1" }, { host: "n3", state: "LOST" }]);
  });

  test("gives each role its own files, and its tasks what all have; the second time nothing is sent", async () => {
    const [shared, own] = [there.file("shared.txt", "shared"), there.file("own.txt", "own")];
    const job = there.job({
      "tony.containers.resources": shared,
      "tony.ps.resources": own,
      "tony.ps.instances": "1",
      "tony.ps.command": "true",
    });
    expect((await submit(job)).told.at(-1)).toMatch(
      /^upload {2}tony-ts runtime [\d.]+ MiB · shared.txt 6 B · own.txt 3 B/,
    );
    expect(there.read(id, "job.json").json).toMatchObject({
      files: {
        master: expect.not.arrayContaining([expect.objectContaining({ link: "shared.txt" })]),
        all: expect.arrayContaining([expect.objectContaining({ link: "shared.txt", sizeBytes: 6 })]),
        byRole: { ps: [expect.objectContaining({ link: "own.txt" })], worker: [] },
      },
    });
    expect((await submit(job)).told.at(-1)).toMatch(/^upload {2}nothing: [\d.]+ MiB are cached$/);
    expect(there.applications()).toHaveLength(2);
  });
});

test("what an earlier upload left that was broken off goes with the next submission", async () => {
  const uploads = path.join(there.staging, "cache", "uploads");
  mkdirSync(uploads, { recursive: true });
  const { pid } = spawnSync("true");
  writeFileSync(path.join(uploads, uploadName("data.txt", { host: hostname(), pid })), "half");
  await submit(there.job());
  expect(readdirSync(uploads)).toEqual([]);
});

test("what is said of a folder that several roles have is said once", async () => {
  const sources = path.join(there.folder, "sources");
  mkdirSync(path.join(sources, ".git"), { recursive: true });
  writeFileSync(path.join(sources, "data.txt"), "data");
  const resource = `${sources}#archive`;
  const { told } = await submit(
    there.job({
      "tony.worker.resources": resource,
      "tony.ps.resources": resource,
      "tony.ps.instances": "1",
      "tony.ps.command": "true",
    }),
  );
  expect(told.filter((line) => line.startsWith("sources: "))).toEqual(["sources: 1 file, 4 B; left out: .git"]);
});

test("on a terminal an upload is shown from its beginning, and nothing of that is left when it is done", async () => {
  await there.stop();
  there = await StandInCluster.start({ isTerminal: true });
  const { shown } = await submit(there.job());
  expect(shown[0]).toBe("  upload  comparing with what the cluster has already");
  expect(shown.at(-1)).toMatch(/^ {2}upload {2}\[#+\] 100 %/);
  const { out } = there.context;
  expect(out.text.endsWith("\u001b[1A\r\u001b[J")).toBe(true);
  await expect(submit(there.job(), new AbortController(), "uploaded")).rejects.toMatchObject({ code: "NOT_SUBMITTED" });
  expect(out.text.endsWith("\u001b[1A\r\u001b[J")).toBe(true);
});

test("in a pipe an upload that is short is told when it is done alone", async () => {
  expect((await submit(there.job())).shown).toEqual([]);
});

describe("what is wrong with a job is known before anything is sent", () => {
  test("an error refuses it", async () => {
    await expect(submit(there.job({ "tony.worker.node-label": "gpu" }))).rejects.toMatchObject({
      code: "CLUSTER_REFUSES",
      message: expect.stringContaining("label gpu, which does not exist"),
    });
    expect(there.cached()).toEqual([]);
    expect([there.applications(), there.manager.submitted]).toEqual([[], []]);
  });

  test("warnings are told, of the job, of its files and of the cluster, and it goes on", async () => {
    await submit(there.job({ "tony.worker.instances": "200", "tony.yarn.queue": "mll" }));
    expect(there.context.err.text).toMatch(/there is no queue mll: did you mean ml\?/);
    expect(there.context.err.text).toMatch(/200 of worker ask for 1 GiB/);
    expect(there.manager.submitted).toHaveLength(1);
  });

  test("what a class path names and is not there is told, too", async () => {
    const gone = `file://${there.folder}/gone.jar`;
    await submit(there.job({}, { hdfsClasspath: gone }));
    expect(there.context.err.text).toContain(`names ${gone}, which does not exist: it is left out`);
  });

  test("a place for staging folders that others may change is warned of where names are believed", async () => {
    mkdirSync(there.staging);
    chmodSync(there.staging, 0o777);
    await submit(there.job());
    expect(there.context.err.text).toMatch(/staging can be changed by everybody \(permissions 777\)/);
  });
});

describe("of a submission that does not come to its end", () => {
  const nothing = {
    code: "NOT_SUBMITTED",
    exitCode: 4,
    message: /^Nothing was submitted, and nothing is left on the cluster$/,
  };
  const isNothing = { ...nothing, message: expect.stringMatching(nothing.message) };

  test("nothing is left where it was stopped before it began", async () => {
    const stop = new AbortController();
    stop.abort("Ctrl-C");
    await expect(submit(there.job(), stop)).rejects.toMatchObject(isNothing);
    expect([there.cached(), there.applications(), there.manager.submitted]).toEqual([[], [], []]);
  });

  test.each(["named", "uploaded"] as const)(
    "no application is left where it was stopped when its job was %s",
    async (at) => {
      await expect(submit(there.job(), new AbortController(), at)).rejects.toMatchObject(isNothing);
      expect([there.applications(), there.manager.submitted]).toEqual([[], []]);
    },
  );

  test("no staging folder is left where the ResourceManager refuses it", async () => {
    there.manager.taken = { state: "FAILED", finalStatus: "FAILED", diagnostics: "Java: queue ml is full" };
    await expect(submit(there.job())).rejects.toMatchObject({ code: "SUBMISSION_REFUSED" });
    expect(there.applications()).toEqual([]);
  });

  test("it is said that nothing is left where it was stopped while the ResourceManager refused it", async () => {
    const stop = new AbortController();
    there.manager.taken = { state: "FAILED", finalStatus: "FAILED" };
    there.manager.onSubmit = () => stop.abort("Ctrl-C");
    await expect(submit(there.job(), stop)).rejects.toMatchObject({ code: "NOT_SUBMITTED" });
    expect(there.applications()).toEqual([]);
  });

  test("the staging folder stays where it is not known whether it was taken", async () => {
    const stop = new AbortController();
    there.manager.onSubmit = () => {
      stop.abort("Ctrl-C");
      void there.manager.stop();
    };
    await expect(submit(there.job(), stop)).rejects.toMatchObject({ code: "SUBMISSION_UNKNOWN" });
    expect(there.applications()).toEqual([id]);
    expect(there.staged(id)).toContain("job.json");
  });
});

import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { clusterOf } from "../../../client/cluster/cluster.ts";
import type { ClientContext } from "../../../client/context.ts";
import type { WaitBlock } from "../../../client/output/output.ts";
import { ContentCache } from "../../../client/shipping/cache.ts";
import { uploadName } from "../../../client/shipping/uploads.ts";
import { checkOffline } from "../../../client/submission/check-offline.ts";
import { submitToCluster } from "../../../client/submission/submission.ts";
import { formatClientAccess, pageKey } from "../../../src/api/identity.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { readTokenFile } from "../../../src/hadoop/security/token-file.ts";
import type { JobText } from "../../../src/job/build/load-job.ts";
import { PAGE_NAME } from "../../../src/job/launch/container-names.ts";
import { programSecretsIn } from "../../../src/job/launch/program-secrets.ts";
import { aNode, environmentOf, StandInCluster } from "./stand-in-cluster.ts";

const id = "application_1795305600000_0001";

let there: StandInCluster;
beforeEach(async () => {
  there = await StandInCluster.start();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await there.stop();
});

/** What a person is told meanwhile: names of jobs, and lines of the upload. */
let told: string[];
let shown: string[];

async function submit(
  text: JobText,
  stop = new AbortController(),
  stopAt?: "named" | "uploading" | "uploaded",
  changes: Partial<ClientContext> = {},
) {
  const context = { ...there.context, ...changes };
  [told, shown] = [[], []];
  const isNow = (what: typeof stopAt) => what === stopAt && stop.abort("Ctrl-C");
  const cluster = await clusterOf(text, context);
  const listener = {
    named: (named: string) => {
      told.push(named);
      isNow("named");
    },
    uploading: (block: WaitBlock) => {
      shown.push(block.line);
      context.output.wait(block);
      isNow("uploading");
    },
    uploaded: (line: string) => {
      told.push(line.trim());
      isNow("uploaded");
    },
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
    expect(submitted.atMs).toBe(there.context.now());
    expect(told).toEqual([id, expect.stringMatching(/^upload {2}tony-ts runtime \d.* {3}0\.0 s$/)]);
    expect(there.staged(id)).toEqual(["client.json", "job.json", "nodes.json", "tony-final.xml"]);
    for (const name of ["client.json", "job.json", "nodes.json"]) expect(there.read(id, name).permission).toBe(0o600);
    expect(there.read(id, "job.json").json).toMatchObject({
      applicationId: id,
      user: there.applicant,
      node: "/opt/node",
      hadoop: { "fs.defaultFS": "hdfs://nowhere:8020" },
      resourceTypes: [{ name: "memory-mb" }, { name: "vcores" }],
      roundings: { memoryMiB: { least: 1_024 } },
      stagingUrl: `file://${there.staging}/${id}`,
      spec: { roles: [{ name: "worker", instances: 2 }] },
    });
    expect(there.read(id, "client.json").json).toEqual({
      ...formatClientAccess(submitted.access),
      pageKey: pageKey(submitted.access),
      submitter: { host: hostname(), pid: process.pid },
    });
    const [application] = there.manager.submitted;
    const resources = application?.am_container_spec?.localResources?.map(({ key }) => key);
    expect(resources?.sort()).toEqual(["am.cjs", PAGE_NAME]);
    expect(application).toMatchObject({ application_name: "bert", queue: "ml", applicationType: "TONY" });
    expect(environmentOf(application ?? {})).toMatchObject({
      TONY_JOB_SHA256: there.sha256(id, "job.json"),
      TONY_NODES_SHA256: there.sha256(id, "nodes.json"),
    });
  });

  test("keeps what it is told alone: no page that a key opens, no settings where nobody would read them", async () => {
    await submit(there.job({ "tony.am.page.enabled": "false" }));
    expect(there.staged(id)).toEqual(["client.json", "job.json", "nodes.json"]);
    expect(there.read(id, "client.json").json).not.toHaveProperty("pageKey");
    const unasked = ["feeds", "keytab", "hdfsEndpoint", "queueShares"];
    expect(Object.keys(Object(there.read(id, "job.json").json)).filter((name) => unasked.includes(name))).toEqual([]);
  });

  test("knows what others may use of labels, how much its queue may have, and which files its feeds are", async () => {
    there.manager.labels = [
      { name: "gpu", exclusive: true },
      { name: "fast", exclusive: false },
    ];
    there.manager.queues = ["ml"];
    there.manager.fair = { "root.ml": { memoryMiB: 8_192, vcores: 8 } };
    const rows = there.file("rows.txt", "a\nb\n");
    const settings = {
      ...{ "tony.yarn.queue": "ml", "tony.feed.train.input": `file://${rows}` },
      ...{ "tony.feed.train.format": "lines", "tony.application.feed-consumer": "worker" },
    };
    await submit(there.job(settings));
    expect(there.read(id, "job.json").json).toMatchObject({
      sharedLabels: ["fast"],
      queueShares: { queue: "root.ml", ofLabels: { "": { memoryMiB: 0.5 } } },
      feeds: { train: expect.anything() },
    });
  });

  test.each<[string, Readonly<Record<string, string>>, string | undefined]>([
    ["that it was submitted by", {}, "http://gateway:14000"],
    ["of their own", { "tony.hdfs.node-endpoint": "http://inside:14000" }, "http://inside:14000"],
    ["of none", { "tony.hdfs.node-endpoint": "namenode" }, undefined],
  ])("has its processes ask for files by the gateway %s", async (_which, settings, endpoint) => {
    await submit(there.job({ "tony.hdfs.endpoint": "http://gateway:14000", ...settings }));
    expect(Object(there.read(id, "job.json").json).hdfsEndpoint).toBe(endpoint);
  });

  test("gives its programs secrets, which are in no file", async () => {
    const environment = { ...there.context.environment, OPEN: "sesame" };
    await submit(there.job({ "tony.application.secrets": "API_KEY=env:OPEN" }), undefined, undefined, { environment });
    const { tokens } = there.manager.submitted[0]?.am_container_spec ?? {};
    expect(programSecretsIn(readTokenFile(Buffer.from(tokens ?? [])).secrets)).toEqual({ API_KEY: "sesame" });
    for (const name of there.staged(id) ?? [])
      expect(readFileSync(path.join(there.staging, id, name), "utf8")).not.toContain("sesame");
  });

  test("uses files of other file systems where they are, by what is stated of them, or what Hadoop's own client says", async () => {
    mkdirSync(path.join(there.folder, "bin"));
    writeFileSync(path.join(there.folder, "bin", "hadoop"), "#!/bin/sh\necho regular file,7,1700000000000\n", {
      mode: 0o755,
    });
    const environment = { ...there.context.environment, HADOOP_HOME: there.folder };
    const job = there.job({
      "tony.containers.resources": "gs://bucket/stated.bin,gs://bucket/asked.bin",
      "tony.application.file-status": "gs://bucket/stated.bin 9 1600000000000",
    });
    await submit(job, undefined, undefined, { environment });
    expect(Object(there.read(id, "job.json").json).files.all).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ url: "gs://bucket/stated.bin", sizeBytes: 9 }),
        expect.objectContaining({ url: "gs://bucket/asked.bin", sizeBytes: 7 }),
      ]),
    );
  });

  test("puts its files into the cache that it names", async () => {
    await submit(there.job({ "tony.cache.dir": `file://${there.folder}/shared` }));
    expect(there.cached()).toEqual([]);
    expect(readdirSync(path.join(there.folder, "shared", "sha256")).length).toBeGreaterThan(1);
  });

  test("is submitted again where the ResourceManager fails over before it has saved it", async () => {
    there.manager.forgets = 1;
    await submit(there.job());
    expect(there.manager.submitted).toHaveLength(2);
    expect(there.context.err.text).toMatch(/submitting it again/);
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

test("what cannot be removed of earlier uploads is no trouble of this one", async () => {
  const sweep = jest.spyOn(ContentCache.prototype, "sweep").mockRejectedValue(new Error("no answer"));
  await submit(there.job());
  expect(sweep.mock.calls).toEqual([[there.context.now()]]);
  expect(there.manager.submitted).toHaveLength(1);
});

test("files of a cache that somebody else has made are used where the job trusts its owner alone", async () => {
  await submit(there.job());
  const { stat } = LocalFileSystem.prototype;
  jest.spyOn(LocalFileSystem.prototype, "stat").mockImplementation(async function (this: LocalFileSystem, file) {
    const status = await stat.call(this, file);
    return file.startsWith(`${there.staging}/cache`) ? { ...status, owner: "cacher" } : status;
  });
  await expect(submit(there.job())).rejects.toMatchObject({ code: "CACHE_OWNER_NOT_TRUSTED" });
  await submit(there.job({ "tony.cache.trusted-owners": "cacher" }));
  expect(there.manager.submitted).toHaveLength(2);
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
  const [, size = ""] = /tony-ts runtime ([\d.]+ MiB)/.exec(told.at(-1) ?? "") ?? [];
  expect(shown.at(-1)).toMatch(/^ {2}upload {2}\[#+\] 100 %/);
  expect(shown.at(-1)?.endsWith(`${size} of ${size}`)).toBe(true);
  const { out } = there.context;
  expect(out.text.endsWith("\u001b[1A\r\u001b[J")).toBe(true);
  await expect(submit(there.job(), new AbortController(), "uploaded")).rejects.toMatchObject({ code: "NOT_SUBMITTED" });
  expect(out.text.endsWith("\u001b[1A\r\u001b[J")).toBe(true);
});

test("in a pipe an upload is shown where it takes longer than five seconds, and else told when it is done alone", async () => {
  expect((await submit(there.job())).shown).toEqual([]);
  rmSync(path.join(there.staging, "cache"), { recursive: true });
  let nowMs = 0;
  const slow = { now: () => (nowMs += 5_000) };
  expect((await submit(there.job(), undefined, undefined, slow)).shown.at(-1)).toMatch(/^ {2}upload {2}\[#+\] 100 %/);
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

  test("a file that nobody knows anything of refuses it", async () => {
    const environment = { ...there.context.environment, HADOOP_HOME: there.folder };
    const job = there.job({ "tony.containers.resources": "gs://bucket/x.bin" });
    const submitted = submit(job, undefined, undefined, { environment });
    await expect(submitted).rejects.toMatchObject({ code: "RESOURCE_UNREADABLE" });
  });

  test("an address that nodes make nothing of is told", async () => {
    await submit(there.job({ "fs.defaultFS": "hdfs://name_node:8020" }));
    await there.context.err.waitFor("Java finds no host name");
    expect(there.context.err.text).toContain("warning: fs.defaultFS");
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
    expect([told, there.cached(), there.applications(), there.manager.submitted]).toEqual([[], [], [], []]);
  });

  test("a ResourceManager that does not answer is waited for no longer than a person likes", async () => {
    const stop = new AbortController();
    await there.manager.stop();
    const submitted = submit(there.job({ "yarn.resourcemanager.connect.max-wait.ms": "-1" }), stop);
    const ended = expect(submitted).rejects.toMatchObject(isNothing);
    await there.context.err.waitFor("does not answer; still trying, without end");
    stop.abort("Ctrl-C");
    await ended;
  });

  test("no file is left that was to be sent when it was stopped", async () => {
    await there.stop();
    there = await StandInCluster.start({ isTerminal: true });
    await expect(submit(there.job(), new AbortController(), "uploading")).rejects.toMatchObject(isNothing);
    expect([told, there.cached()]).toEqual([[id], []]);
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

import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { formatDate } from "../../../client/output/format.ts";
import { uploadName } from "../../../client/shipping/uploads.ts";
import { clientAccess, clientAccessFile, formatClientAccess, pageKey } from "../../../src/api/identity.ts";
import { jobStatus } from "../../../src/api/status-codec.ts";
import { ownerName } from "../../../src/hadoop/process-owner.ts";
import type { NodeReport } from "../../../src/hadoop/yarn/records.ts";
import { encodeSeries, seriesFile } from "../../../src/history/series/file.ts";
import { SeriesTable } from "../../../src/history/series/table.ts";
import { jobFileName } from "../../../src/job/stored/stored-job.ts";
import { anExecutorJob, identity, noClients } from "../../support/api.ts";
import { eventually } from "../../support/eventually.ts";
import { SessionScene } from "../../support/session-scene.ts";
import { aJobStatus } from "../job-status.ts";
import { StandInManager } from "../stand-in-manager.ts";
import { recordedStreams } from "../support.ts";
import { LocalMachine } from "./local-machine.ts";

const me = ownerName();
const [first, second, third] = ["application_1_0001", "application_1_0002", "application_1_0003"] as const;

let machine: LocalMachine;
let manager: StandInManager;
let staging = "";
beforeEach(async () => {
  machine = new LocalMachine();
  staging = path.join(machine.folder, "staging");
  manager = await StandInManager.start(machine.folder);
  machine.environment = { ...machine.environment, HADOOP_CONF_DIR: manager.configuration, HADOOP_USER_NAME: me };
});
/** Nothing that a command opened may still be open. */
afterEach(async () => {
  await eventually("all to leave the ResourceManager", () => manager.callers === 0, 3_000);
  await manager.stop();
  await machine.dispose();
});

const place = () => ["--conf", `tony.staging-dir=file://${staging}`];
const run = (...words: string[]) => machine.run(...words, ...place());
const json = (...words: string[]) => machine.json(...words, ...place());

function node(host: string, changes: Partial<NodeReport> = {}): NodeReport {
  const of = (memoryMiB: number, vcores: number) => ({ memoryMiB, vcores, others: {} });
  return {
    ...{ nodeId: `${host}:45454`, host, httpAddress: "", rack: "", state: "RUNNING", healthReport: "" },
    ...{ used: of(1_024, 1), capability: of(4_096, 4), containerCount: 1, labels: [] },
    ...changes,
  };
}

/** A file of the cache that was last used so many days ago. */
function cached(name: string, daysAgo: number): string {
  const file = path.join(staging, "cache", "sha256", name.padEnd(64, "0"), name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, name);
  const atS = 1_795_305_600 - daysAgo * 86_400;
  utimesSync(file, atS, atS);
  return file;
}

/** What an application that runs keeps in its staging folder. */
function staged(id: string, names: string): void {
  const folder = path.join(staging, id);
  mkdirSync(folder, { recursive: true });
  const access = clientAccess(identity);
  const job = { ...anExecutorJob(), files: { master: [], all: [], byRole: {} } };
  const more = { node: `file://${names}`, sharedLabels: [], resourceTypes: [] };
  writeFileSync(path.join(folder, jobFileName), JSON.stringify({ ...job, ...more }));
  writeFileSync(
    path.join(folder, clientAccessFile),
    JSON.stringify({ ...formatClientAccess(access), pageKey: pageKey(access) }),
  );
}

describe("tony-ts list on a cluster", () => {
  beforeEach(() =>
    manager.has(
      { id: first, user: me, state: "RUNNING", startTimeMs: 1_795_305_100_000 },
      { id: second, user: me, state: "FINISHED", finalStatus: "SUCCEEDED", startTimeMs: 1_795_305_200_000 },
      { id: third, user: "bob", state: "RUNNING", startTimeMs: 1_795_305_300_000 },
    ),
  );

  test.each([
    [[], [first]],
    [["--all"], [second, first]],
    [["--all-users"], [third, first]],
    [
      ["--all-users", "--all", "--limit", "2"],
      [third, second],
    ],
    [["--user", "bob"], [third]],
    [["--state", "succeeded"], [second]],
    [
      ["--queue", "ml"],
      [third, first],
    ],
  ])("%j shows %j", async (words, ids) => {
    const shown = await json("list", ...words);
    expect(shown).toMatchObject({ jobs: ids.map((id) => ({ id })), places: ["yarn"] });
    expect(shown).not.toHaveProperty("unknownUser");
  });

  test("shows the GPUs that a job holds, of the types that a setting names", async () => {
    const used = { memoryMiB: 1_024, vcores: 1, others: { "acme.com/a100": 7 } };
    const none = { memoryMiB: 0, vcores: 0, others: {} };
    const usage = { usedContainers: 1, used, needed: none, memorySeconds: 0, vcoreSeconds: 0, resourceSeconds: {} };
    manager.has({ id: first, user: me, state: "RUNNING", usage });
    const conf = ["--conf", "tony.gpu-resource-types=acme.com/a100"];
    expect((await run("list", ...conf)).out).toMatch(/ GPUs\n.* 7\n$/);
    expect((await run("list")).out).not.toContain("GPUs");
  });

  test("shows the jobs of this machine beside those of the cluster, unless one place alone is asked", async () => {
    const { id } = await machine.running();
    const places = ["yarn", "local"];
    expect(await json("list")).toMatchObject({ jobs: [{ id }, { id: first }], places });
    expect(await json("list", "--scheduler", "local")).toMatchObject({ jobs: [{ id }], places: ["local"] });
    expect(await json("list", "--scheduler", "yarn")).toMatchObject({ jobs: [{ id: first }], places: ["yarn"] });
    expect(await json("list", "--user", me)).toMatchObject({ jobs: [{ id: first }], places: ["yarn"] });
    expect(await json("list", "--queue", "ml")).toMatchObject({
      jobs: [{ id: third }, { id: first }],
      places: ["yarn"],
    });
  });

  test("hides no job of this machine where the cluster does not answer, says so, and fails; alone it is an error", async () => {
    const { id } = await machine.running();
    await manager.stop();
    const { exitCode, out, err } = await run("list");
    expect(exitCode).toBe(3);
    expect(out).toContain(`\n${id} `);
    expect(err).toMatch(/^Jobs of this machine only\. /);
    expect(await json("list")).toMatchObject({ jobs: [{ id }], places: ["local"] });
    const none = await run("list", "--name", "another");
    expect([none.exitCode, none.out]).toEqual([3, ""]);
    expect(none.err).not.toContain("Jobs of this machine only");
  });

  test("says of whom the ResourceManager never had an application", async () => {
    const { exitCode, out } = await run("list", "--user", "eve");
    expect({ exitCode, out }).toEqual({
      exitCode: 0,
      out: "No jobs: unknown user eve: the ResourceManager has no applications of theirs, of any kind\n",
    });
    expect(await json("list", "--user", "eve")).toMatchObject({ jobs: [], unknownUser: "eve" });
    expect(await json("list", "--user", "bob", "--state", "failed")).not.toHaveProperty("unknownUser");
  });
});

describe("tony-ts nodes", () => {
  beforeEach(() => {
    manager.nodes = [
      node("n1", { labels: ["gpu"] }),
      node("n2"),
      node("n3", { state: "LOST", labels: ["gpu", "big"] }),
    ];
    manager.has(
      { id: first, user: "bob", state: "RUNNING", usage: held(2, 3_072) },
      { id: second, state: "FINISHED", usage: held(1, 1_024) },
      { id: third, user: "eve", state: "ACCEPTED", usage: held(1, 1_024) },
    );
  });

  const held = (usedContainers: number, memoryMiB: number) => {
    const none = { memoryMiB: 0, vcores: 0, others: {} };
    const used = { ...none, memoryMiB, vcores: 1 };
    return { usedContainers, used, needed: none, memorySeconds: 0, vcoreSeconds: 0, resourceSeconds: {} };
  };

  test("shows what is free on each, and who holds the rest", async () => {
    const { exitCode, out } = await machine.run("nodes");
    expect(exitCode).toBe(0);
    expect(out.split("\n").slice(0, 3)).toEqual([
      expect.stringMatching(/^node +state +label +memory free +cores free +containers$/),
      expect.stringMatching(/^n2 +RUNNING +– +3 GiB of 4 GiB +3 of 4 +1$/),
      expect.stringMatching(/^n1 +RUNNING +gpu +3 GiB of 4 GiB +3 of 4 +1$/),
    ]);
    expect(out).toMatch(new RegExp(`\n${first} +bob +ml +bert +2 +3 GiB, 1 core`));
    expect(out).toMatch(new RegExp(`\n${third} +eve +ml +bert +1 +1 GiB, 1 core`));
    expect(out).not.toContain(second);
  });

  test("of a label are those that have it", async () => {
    expect(await machine.json("nodes", "--label", "gpu")).toMatchObject({
      nodes: expect.not.arrayContaining([expect.objectContaining({ host: "n2" })]),
      holders: [{ applicationId: first }, { applicationId: third }],
    });
    expect(await machine.run("nodes", "--label", "cpu")).toEqual({
      exitCode: 2,
      out: "",
      err: "No node has the label cpu: the nodes' labels are big, gpu\n",
    });
    manager.nodes = [node("n1")];
    expect((await machine.run("nodes", "--label", "cpu")).err).toBe("No node has the label cpu: no node has a label\n");
  });
});

describe("tony-ts status, wait and kill on a cluster", () => {
  test("ask the ResourceManager where nothing more is known", async () => {
    manager.has(
      { id: first, user: me, state: "RUNNING" },
      { id: second, user: me, state: "FINISHED", finalStatus: "FAILED" },
    );
    expect(await run("status", first)).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining("its AM cannot be asked: the ResourceManager does not say where it is"),
    });
    expect(await json("status", first)).toMatchObject({ statusFrom: "resource-manager", report: { id: first } });
    expect(await run("wait", second)).toMatchObject({
      exitCode: 1,
      out: expect.stringMatching(/^application_1_0002 FAILED: /),
    });
    const { exitCode, err } = await run("status", third);
    expect({ exitCode, err }).toEqual({
      exitCode: 3,
      err: expect.stringMatching(/^The ResourceManager does not know application_1_0003/),
    });
  });

  test("several jobs are waited for by one connection, which is closed with the last", async () => {
    const ended = { user: me, state: "FINISHED", finalStatus: "SUCCEEDED" } as const;
    manager.has({ id: first, ...ended }, { id: second, ...ended }, { id: third, ...ended, finalStatus: "KILLED" });
    machine.streams = recordedStreams({ typed: `${first}\n${second}\n${third}\n` });
    expect((await run("wait", "--stdin")).exitCode).toBe(4);
  });

  test("a job whose ApplicationMaster cannot be asked is killed by the ResourceManager, for the reason that is given", async () => {
    manager.has({ id: first, user: me, state: "ACCEPTED" });
    expect(await run("kill", first, "--reason", "enough")).toEqual({ exitCode: 0, out: `${first} KILLED\n`, err: "" });
    expect(manager.killed).toEqual([{ id: first, reason: expect.stringMatching(/^killed by \S+ from \S+: enough$/) }]);
  });
});

describe("of a job that has ended while its staging folder cannot be read", () => {
  const elsewhere = ["--conf", "tony.staging-dir=s3a://bucket/staging"];
  const why = "s3a";
  const ended = {
    id: first,
    user: me,
    state: "FINISHED",
    finalStatus: "FAILED",
    diagnostics: "worker:1 exit 1",
  } as const;
  beforeEach(() => manager.has(ended));

  test.each(["status", "attach"])("%s tells what the ResourceManager knows, and why it is no more", async (verb) => {
    const { out, err } = await machine.run(verb, first, ...elsewhere);
    expect([out, err]).toEqual([expect.stringMatching(/FAILED.*worker:1 exit 1/s), ""]);
    expect(out).toMatch(/what became of its tasks cannot be read now: .*s3a.*tony\.staging-dir=hdfs:/s);
  });

  test("status --json has both", async () => {
    expect(await machine.json("status", first, ...elsewhere)).toMatchObject({
      statusFrom: "resource-manager",
      status: { state: "failed" },
      remark: expect.stringContaining(why),
    });
  });

  test("advise says why there is none", async () => {
    const { exitCode, err } = await machine.run("advise", first, ...elsewhere);
    expect(exitCode).not.toBe(0);
    expect(err).toMatch(
      /^Nothing is known about the tasks of application_1_0001: what became of its tasks cannot be read now: .*s3a/s,
    );
  });
});

describe("settings of the command line", () => {
  test.each([
    ["status", first],
    ["attach", first],
    ["wait", first],
    ["kill", first],
    ["logs", first],
    ["get", first],
    ["series", first],
    ["advise", first],
    ["advise", "bert"],
    ["trials", first],
    ["page", first],
    ["page", first, "--address"],
    ["forward", first, "worker:0", "80"],
    ["tensorboard", first],
    ["kv", first, "list"],
    ["kv", first, "watch"],
    ["stacks", first],
    ["list"],
    ["nodes"],
    ["cache", "list"],
    ["cache", "prune"],
    ["doctor"],
    ["portal"],
  ])("are heeded by %s %s", async (...words) => {
    const { exitCode, out, err } = await machine.run(...words, "--conf", "gone.xml");
    expect([exitCode, out, err]).toEqual([2, "", expect.stringContaining("the job's file gone.xml does not exist")]);
  });
});

describe("of a cluster's job that runs, the ApplicationMaster", () => {
  const asked: unknown[] = [];
  let scene: SessionScene;
  beforeEach(async () => {
    asked.length = 0;
    scene = await SessionScene.open({
      clients: {
        ...noClients,
        follow: (follower) => {
          follower.status(jobStatus.encode(aJobStatus({ applicationId: first })));
          return () => undefined;
        },
        transact: async ({ transaction }) => {
          asked.push(transaction);
          return { revision: 8, succeeded: true, results: [{ type: "delete", deleted: 1 }] };
        },
        stop: (reason) => {
          asked.push(reason);
          manager.has({ id: first, user: me, state: "KILLED", finalStatus: "KILLED" });
          return true;
        },
      },
      stacks: [],
    });
    manager.has({ id: first, user: me, state: "RUNNING", amHost: "127.0.0.1", amRpcPort: scene.port });
    staged(first, "/node");
  });
  afterEach(() => scene.close());

  const verbs: readonly (readonly string[])[] = [
    ["exec", first, "worker:0", "--", "true"],
    ["stacks", first, "worker:0"],
    ["kv", first, "del", "a"],
  ];

  test.each(verbs.map((words) => [words] as const))(
    "is asked by way of the staging folder that --conf names: %j",
    async (words) => {
      const at = words.indexOf("--");
      const [before, after] = at < 0 ? [words, []] : [words.slice(0, at), words.slice(at)];
      expect(await machine.run(...before, ...place(), ...after)).toMatchObject({ exitCode: 0, err: "" });
    },
  );

  test("shows status, and ends the job in order", async () => {
    expect(await json("status", first)).toMatchObject({ statusFrom: "am", status: { name: "bert" } });
    expect(await run("kill", first, "--reason", "enough")).toMatchObject({ exitCode: 0, err: "" });
    expect([asked, manager.killed]).toEqual([[expect.stringMatching(/: enough$/)], []]);
  });

  test.each([
    ["exec", ["worker:0", "--", "true"]],
    ["forward", ["worker:0", "8080"]],
    ["tensorboard", []],
    ["page", []],
    ["kv", ["list"]],
    ["kv", ["watch"]],
    ["stacks", []],
  ] as const)("cannot be asked where that folder cannot be read: %s %j", async (verb, words) => {
    const { exitCode, out, err } = await machine.run(
      verb,
      first,
      "--conf",
      "tony.staging-dir=s3a://bucket/staging",
      ...words,
    );
    expect({ exitCode, out }).toEqual({ exitCode: 3, out: "" });
    expect(err).toMatch(/^The AM of application_1_0001 cannot be asked: .*s3a/);
  });

  test.each([
    ["ACCEPTED", "does not run yet: "],
    ["FINISHED", "has ended (SUCCEEDED): this needs a running job\n"],
    ["KILLED", "has ended (KILLED): this needs a running job\n"],
  ] as const)("is nobody's to ask of a job that is %s", async (state, why) => {
    manager.has({ id: first, user: me, state, finalStatus: state === "FINISHED" ? "SUCCEEDED" : "UNDEFINED" });
    const { exitCode, out, err } = await run("kv", first, "list");
    expect({ exitCode, out }).toEqual({ exitCode: 3, out: "" });
    expect(err).toContain(`${first} ${why}`);
  });
});

describe("tony-ts series", () => {
  test("shows all tasks or one, as a table or in JSON, from the history that --conf names", async () => {
    const id = first;
    manager.has({ id, user: me, state: "FINISHED", finalStatus: "SUCCEEDED", finishTimeMs: 1_795_305_500_000 });
    const table = new SeriesTable(0, 2);
    for (const task of ["worker:0", "worker:1"]) table.add(task, { name: "cpu", rule: "mean" }, 0, 1);
    const history = path.join(machine.folder, "history");
    mkdirSync(path.join(history, "intermediate", id), { recursive: true });
    const bytes = await encodeSeries({ applicationId: id, attempt: 1 }, table, () => 1024 ** 3);
    writeFileSync(path.join(history, "intermediate", id, seriesFile), bytes);
    const conf = ["--conf", `tony.history.location=file://${history}`];
    const cells = (text: string) => text.split("\n").map((line) => line.split(/ {2,}/).slice(0, 3).join(" "));
    const { exitCode, out, err } = await machine.run("series", id, ...conf);
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: "" });
    expect(cells(out)).toEqual(["worker:0 cpu █", "worker:1 cpu █", ""]);
    expect(cells((await machine.run("series", id, "worker:1", ...conf)).out)).toEqual(["worker:1 cpu █", ""]);
    expect(await machine.json("series", id, "worker:1", ...conf)).toMatchObject({
      jsonVersion: 1,
      applicationId: id,
      tasks: [{ task: "worker:1", series: [{ name: "cpu" }] }],
    });
    expect(await machine.run("series", id, "ps", ...conf)).toMatchObject({ exitCode: 2, out: "" });
  });
});

describe("tony-ts page --address", () => {
  test("is the address at YARN's proxy, which alone is printed", async () => {
    manager.has({ id: first, user: me, state: "RUNNING", trackingUrl: "http://127.0.0.1:8088/proxy/a/" });
    staged(first, "/node");
    const { exitCode, out, err } = await run("page", first, "--address");
    expect({ exitCode, out, err }).toEqual({
      exitCode: 0,
      err: "",
      out: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8088\/proxy\/a\/#\S+\n$/),
    });
    expect(await json("page", first, "--address")).toEqual({ jsonVersion: 1, applicationId: first, url: out.trim() });
  });
});

describe("tony-ts cache", () => {
  test("lists each file, the least recently used first, and how much they are together", async () => {
    cached("program.zip", 1);
    cached("node", 40);
    const { exitCode, out } = await run("cache", "list");
    expect(exitCode).toBe(0);
    expect(out.split("\n").map((line) => line.split(/ +/)[0])).toEqual(["name", "node", "program.zip", "2", ""]);
    expect(out).toContain(`\n2 files, 15 B in ${staging}/cache\n`);
    const usedAt = formatDate(1_795_305_600_000 - 40 * 86_400_000);
    expect(out).toMatch(new RegExp(`\nnode +node00000000 +${me} +4 B +${usedAt}\n`));
    expect(await json("cache", "list")).toMatchObject({
      files: [{ name: "node", sizeBytes: 4 }, { name: "program.zip" }],
    });
  });

  test("lists what was not uploaded to its end as such", async () => {
    mkdirSync(path.join(staging, "cache/uploads"), { recursive: true });
    writeFileSync(path.join(staging, "cache/uploads", uploadName("venv.zip")), "12");
    expect((await run("cache", "list")).out).toMatch(/\nvenv\.zip \(unfinished\) +\S+ +2 B /);
    expect(await json("cache", "list")).toMatchObject({ files: [{ name: "venv.zip", partial: true }] });
  });

  test("prune removes what no job uses and nobody used for so long", async () => {
    const [used, old, fresh] = [cached("used", 40), cached("old", 40), cached("fresh", 20)];
    manager.has({ id: first, user: me, state: "RUNNING" });
    staged(first, used);
    expect((await run("cache", "prune", "--dry-run")).out).toBe("Would remove 1 file, 3 B\n");
    expect(await json("cache", "prune", "--dry-run", "--unused-for", "10d")).toMatchObject({
      dryRun: true,
      freedBytes: 8,
    });
    expect([used, old, fresh].map(existsSync)).toEqual([true, true, true]);
    expect(await json("cache", "prune")).toMatchObject({ dryRun: false, freedBytes: 3, removed: [{ name: "old" }] });
    expect([used, old, fresh].map(existsSync)).toEqual([true, false, true]);
    expect((await run("cache", "prune", "--unused-for", "10d")).out).toBe("Removed 1 file, 5 B\n");
    expect([used, fresh].map(existsSync)).toEqual([true, false]);
  });

  test("prune removes nothing where it is not known what a job uses, or for how long", async () => {
    const old = cached("old", 40);
    manager.has({ id: first, user: me, state: "RUNNING" });
    expect(await run("cache", "prune")).toMatchObject({
      exitCode: 3,
      err: expect.stringMatching(/^Nothing is removed: /),
    });
    expect((await run("cache", "prune", "--unused-for", "long")).err).toBe(
      '--unused-for takes a duration such as 12h or 30d, not "long"\n',
    );
    expect(existsSync(old)).toBe(true);
  });
});

import { describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { type FaultJob, WAITS } from "../support/fault-job.ts";
import { FaultSuite } from "../support/fault-suite.ts";
import { Person } from "../support/person.ts";
import { isRunning } from "../support/processes.ts";

const cluster = await testCluster();

/** Undefined while nobody answers. */
async function pageAt(url: string): Promise<string | undefined> {
  return await fetch(url).then(
    (answer) => answer.text(),
    () => undefined,
  );
}

describe("the ApplicationMaster", () => {
  const suite = new FaultSuite(cluster);
  const attempt2 = (job: FaultJob) =>
    job.status("the second attempt", ({ attempt, state }) => attempt === 2 && state === "running");

  test("is killed, and the programs end while no ApplicationMaster is there: their exits are told to the next one", async () => {
    const job = await suite.submit();
    const before = await job.running(1);
    await job.journaled();
    const master = await job.master();
    process.kill(master, "SIGSTOP");
    job.letEnd();
    await eventually("the programs' end", () => before.every(({ pid }) => !isRunning(pid)));
    process.kill(master, "SIGKILL");

    const { exitCode, stdout } = await job.end();
    expect(stdout).toMatch(/SUCCEEDED +2 of 2 tasks exited 0 · 0 restarts/);
    expect(exitCode).toBe(0);
    expect(job.starts()).toEqual(before);
  });

  test("is killed under a forwarded port: what connects then gets through by the next one", async () => {
    const serve = 'echo served > page; python3 -m http.server --bind 127.0.0.1 "$TB_PORT" & echo "port $TB_PORT"';
    const job = await suite.submit({ workers: 1, program: `${serve}; ${WAITS}; kill $!` });
    const [, port = ""] = await job.client.output(/^worker:0 \| port (\d+)$/m);
    const alice = new Person(cluster);
    const forward = alice.start("forward", job.id, "worker:0", port, "--json");
    const [, address = ""] = await forward.output(/"address":"([^"]+)"/);
    const page = () => eventually("the page", () => pageAt(`http://${address}/page`));
    expect(await page()).toBe("served\n");
    await job.journaled();
    process.kill(await job.master(), "SIGKILL");

    await attempt2(job);
    expect(await page()).toBe("served\n");
    expect((await job.end()).exitCode).toBe(0);
    expect(await forward.ended).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining("another one is waited for"),
    });
    await alice.leave();
  });

  test("is killed between a write to the job's store and the read: the next one has it, and the keys of tasks that live", async () => {
    const job = await suite.submit();
    await job.running(1);
    const alice = new Person(cluster);
    const kv = (...words: string[]) => alice.run("kv", job.id, ...words);
    const watch = alice.start("kv", job.id, "watch", "shared/", "--after", "1:0");
    expect(await kv("put", "shared/rate", "0.1")).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await kv("put", "shared/of-worker", "1", "--owner", "worker:0")).toMatchObject({ exitCode: 0 });
    await watch.output(/^2 {2}/m);
    await job.journaled();
    process.kill(await job.master(), "SIGKILL");

    await attempt2(job);
    expect(await kv("get", "shared/rate")).toMatchObject({ exitCode: 0, stdout: "0.1\n" });
    const { stdout: put } = await kv("put", "shared/rate", "0.2", "--json");
    expect(JSON.parse(put)).toMatchObject({ revision: 3, replaced: true });
    expect((await kv("list")).stdout).toMatch(/^shared\/of-worker +2 +worker:0 +1\nshared\/rate +3 +– +0\.2$/m);
    await watch.output(/^3 {2}/m);
    expect((await job.end()).exitCode).toBe(0);
    const { exitCode, stdout: told } = await watch.ended;
    expect(told).toMatch(/^1 {2}shared\/rate {2}0\.1\n2 {2}shared\/of-worker {2}1\n3 {2}shared\/rate {2}0\.2\n(4 |$)/);
    expect(exitCode).toBe(0);
    await alice.leave();
  });

  test("is killed while containers are gathered: the gang starts once, as soon as there is room", async () => {
    const large = (workers: number) => ({ workers, settings: { "tony.worker.memory": "6g" } });
    const occupant = await suite.submit(large(1));
    await occupant.running(1, 1);
    const job = await suite.submit(large(3));
    await job.status("two of three registered", ({ roles }) => roles[0]?.registered === 2);
    const master = await job.master();
    process.kill(master, "SIGKILL");
    await job.master({ otherThan: master });
    expect((await occupant.end()).exitCode).toBe(0);

    const starts = await job.starting(3);
    expect(new Set(starts.map(({ generation }) => generation)).size).toBe(1);
    expect((await job.end()).exitCode).toBe(0);
    expect(job.starts()).toHaveLength(3);
  });

  test("is killed while executors register: no task starts twice in one generation", async () => {
    const job = await suite.submit({ workers: 3 });
    const master = await job.master();
    await job.anyExecutor();
    process.kill(master, "SIGKILL");

    await job.master({ otherThan: master });
    await job.status("the second attempt", ({ attempt, state }) => attempt === 2 && state === "running");
    const { exitCode } = await job.end();
    expect(exitCode).toBe(0);
    const starts = job.starts().map(({ task, generation }) => `${task} in ${generation}`);
    expect(new Set(starts).size).toBe(starts.length);
  });

  test("is killed during a restart: the next one completes it, and the budget pays once", async () => {
    const settings = { "tony.am.retry-count": "3", "tony.task.stop-grace": "5s" };
    const job = await suite.submit({ settings, program: `trap '' TERM; ${WAITS}` });
    const [first, second] = await job.running(1);
    await job.journaled();
    const master = await job.master();
    process.kill(second?.pid ?? Number.NaN, "SIGKILL");
    await eventually("the restart", () => job.masterLog().includes('"event":"generation-restart"'));
    process.kill(master, "SIGKILL");

    const again = await job.running(2, 2);
    expect(again.map(({ containerId }) => containerId)).toEqual([first?.containerId, second?.containerId]);
    const status = await attempt2(job);
    expect(status.generation).toBe(2);
    expect(status.budgets).toMatchObject({ program: { used: 1 }, infrastructure: { used: 0 } });
    expect((await job.end()).exitCode).toBe(0);
  });

  test("is killed while it finishes: the next one only finishes, with the same outcome", async () => {
    const job = await suite.submit();
    const before = await job.running(1);
    await job.journaled();
    const master = await job.master();
    // The outcome's journal waits for the NameNode, so that the finish takes until the test goes on.
    await suite.stop("namenode");
    job.letEnd();
    await eventually("the outcome", () => job.masterLog().includes('"event":"outcome-decided"'));
    process.kill(master, "SIGKILL");
    await suite.continue("namenode");

    const { exitCode, stdout } = await job.client.ended;
    expect(stdout).toMatch(/SUCCEEDED +2 of 2 tasks exited 0 · 0 restarts/);
    expect(exitCode).toBe(0);
    expect(job.starts()).toEqual(before);
  });

  test("is stopped beyond its expiry and then continued: it sees that it was replaced, and touches nothing", async () => {
    const job = await suite.submit();
    const before = await job.running(1);
    await job.journaled();
    const old = await job.master();
    // Its NodeManager would kill what it may no longer run: it is stopped too, so that the old one can come back.
    const node = job.nodeOfMaster();
    await suite.stop(node);
    process.kill(old, "SIGSTOP");
    await attempt2(job);
    process.kill(old, "SIGCONT");
    await eventually("the old ApplicationMaster's own end", () => !isRunning(old));
    await suite.continue(node);

    expect(before.map(({ pid }) => isRunning(pid))).toEqual([true, true]);
    const { exitCode, stdout } = await job.end();
    expect(stdout).toMatch(/SUCCEEDED +2 of 2 tasks exited 0 · 0 restarts/);
    expect(exitCode).toBe(0);
    expect(job.starts()).toEqual(before);
  });
});

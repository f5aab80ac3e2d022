import { describe, expect, test } from "@jest/globals";
import { PROGRAM_MARKER } from "../../src/job/launch/launch-command.ts";
import type { JobStatus, TaskStatus } from "../../src/job/status.ts";
import { type ClusterNode, testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { BEATS, type FaultJob, type FaultJobOptions, type ProgramStart, WAITS } from "../support/fault-job.ts";
import { FaultSuite } from "../support/fault-suite.ts";
import { isStopped, processesWith } from "../support/processes.ts";

const cluster = await testCluster();

/** No node has room for three of these; that one of them is gone is noticed in the same time whether one or two were there. */
const SETTINGS = { "tony.worker.memory": "3g", "tony.task.mass-silence-timeout": "10s" };

describe("a node", () => {
  const suite = new FaultSuite(cluster);

  test("is lost with all it ran: its tasks move to others, no program budget pays, the report names the node", async () => {
    const job = await suite.submit({ workers: 3, settings: SETTINGS });
    const before = await job.running(1, 3);
    const { tasks } = await job.status("generation 1", ({ state }) => state === "running");
    const master = job.nodeOfMaster();
    const host = tasks.map((task) => task.host).find((candidate) => nodeAt(candidate).name !== master);
    const node = nodeAt(host);
    await suite.loseNode(node);

    const again = await job.running(2, 3);
    expectMoved(before, again, tasksOn(tasks, node));
    const status = await job.status("generation 2", ({ generation, state }) => generation === 2 && state === "running");
    expect(status.generations[0]?.endedBy).toMatchObject({ class: "infrastructure", host });
    expectLeft(status, node);

    await suite.nodeIn("LOST", node);
    expect((await job.end()).exitCode).toBe(0);
    expect(job.starts()).toEqual([...before, ...again]);
  });

  test("is being taken out of the cluster: its programs are told until when, save, and move to other nodes; nobody pays", async () => {
    const saved = '{\\"step\\": 7, \\"checkpoint\\": \\"hdfs:///checkpoints/7\\"}';
    const save = `cp $TONY_NOTICE_FILE $OUTPUT/notice-$TASK_INDEX; echo "${saved}" >> $TONY_PROGRESS_FILE`;
    const job = await suite.submit({
      workers: 3,
      program: `trap '${save}' USR1; ${WAITS}`,
      settings: { ...SETTINGS, "tony.task.preemption-signal": "SIGUSR1", "tony.am.retry-count": "0" },
    });
    const before = await job.running(1, 3);
    const { tasks } = await job.status("generation 1", ({ state }) => state === "running");
    const master = job.nodeOfMaster();
    const node = nodeAt(tasks.map(({ host }) => host).find((host) => nodeAt(host).name !== master));
    const away = tasksOn(tasks, node);
    await suite.decommission(node, { withinS: 120 });

    const again = await job.running(2, 3);
    expectMoved(before, again, away);
    const status = await job.status("generation 2", ({ generation, state }) => generation === 2 && state === "running");
    expect(status.generations[0]?.endedBy).toMatchObject({ reason: { code: "left-node", checkpointStep: 7 } });
    expect(status.generations[1]?.resumedFrom).toMatchObject({ step: 7 });
    expectLeft(status, node, { charged: 0 });
    for (const task of away) {
      expect(JSON.parse(job.read(`notice-${task.split(":")[1]}`))).toEqual({
        cause: "decommissioning",
        deadlineMs: expect.any(Number),
      });
    }
    expect((await job.end()).exitCode).toBe(0);
    expect(job.starts()).toEqual([...before, ...again]);
  });

  /**
   * A job of three that needs this node beside others, and has room to leave it: a node that is stopped is given no
   * ApplicationMaster, and another job keeps one of the other two full until this one runs.
   */
  async function submitPartlyTo(node: ClusterNode, { settings, program }: FaultJobOptions = {}): Promise<FaultJob> {
    await suite.stop(node.name);
    const occupant = await suite.submit({ workers: 1, settings: { "tony.worker.memory": "6g" } });
    await occupant.running(1, 1);
    const job = await suite.submit({
      workers: 3,
      settings: { ...SETTINGS, ...settings },
      ...(program !== undefined && { program }),
    });
    await job.master();
    await suite.continue(node.name);
    await job.running(1, 3);
    await occupant.end();
    return job;
  }

  const cut = cluster.settings.isolate === 0 ? describe.skip : describe;

  cut("that is cut off", () => {
    const ISOLATION_MS = 20_000;
    const settings = { "tony.task.isolation-timeout": `${ISOLATION_MS}ms` };

    /** The job runs, part of it on the isolated node; `orphans` are its programs there. */
    async function running() {
      const isolated = chosen(cluster.settings.isolate);
      const job = await submitPartlyTo(isolated, { program: BEATS, settings });
      const before = await job.running(1, 3);
      const { tasks } = await job.status("generation 1", ({ state }) => state === "running");
      const away = tasksOn(tasks, isolated);
      const orphans = before.filter(({ task }) => away.includes(task));
      expect(orphans).not.toEqual([]);
      return { job, isolated, before, away, orphans };
    }

    /** The next generation runs and writes, the lost programs do not: for how long both did. */
    async function overlapMs(job: FaultJob, orphans: readonly ProgramStart[], again: readonly ProgramStart[]) {
      const written = () => orphans.map((orphan) => job.beats(orphan).length);
      const replacements = again.filter(({ task }) => orphans.some((orphan) => orphan.task === task));
      const before = written();
      const goOn = replacements.map((start) => job.beats(start).length + 20);
      await eventually("the next generation's work", () =>
        replacements.every((start, index) => job.beats(start).length > (goOn[index] ?? 0)),
      );
      expect(written()).toEqual(before);
      const firstMs = Math.min(...replacements.map((start) => job.beats(start)[0] ?? 0));
      return Math.max(...orphans.map((orphan) => job.beats(orphan).at(-1) ?? 0)) - firstMs;
    }

    test("wholly: its tasks move within seconds, its programs stand still soon, and have ended when it is back", async () => {
      const { job, isolated, before, away, orphans } = await running();
      const cutAtMs = Date.now();
      await suite.unplug(isolated);

      const again = await job.running(2, 3);
      expectMoved(before, again, away);
      const status = await job.status(
        "generation 2",
        ({ generation, state }) => generation === 2 && state === "running",
      );
      const { endedAtMs = Number.POSITIVE_INFINITY, endedBy } = status.generations[0] ?? {};
      expect(endedBy).toMatchObject({ class: "infrastructure", summary: expect.stringContaining(hostOf(isolated)) });
      // 10 s are the promise, and seconds more for what leads to it; YARN gives a node up after a minute.
      expect(endedAtMs - cutAtMs).toBeLessThan(15_000);
      expectLeft(status, isolated);
      await eventually("programs that stand still", () => {
        const left = processesOf(orphans);
        return left.length >= orphans.length && left.every(isStopped);
      });
      expect(await overlapMs(job, orphans, again)).toBeLessThan(ISOLATION_MS);

      await suite.plug(isolated);
      await eventually("the orphans' end", () => processesOf(orphans).length === 0);
      expect(await overlapMs(job, orphans, again)).toBeLessThan(ISOLATION_MS);
      expect((await job.end()).exitCode).toBe(0);
      expect(job.starts()).toEqual([...before, ...again]);
    });

    test("from the ApplicationMaster alone, its NodeManager stopped: executors learn from the journal that their tasks moved", async () => {
      const { job, isolated, before, away, orphans } = await running();
      const master = cluster.nodes.find(({ name }) => name === job.nodeOfMaster());
      await suite.stop(isolated.name);
      await suite.unplug(isolated, { from: master === undefined ? "" : hostOf(master) });

      const again = await job.running(2, 3);
      expectMoved(before, again, away);
      await eventually("the orphans' end", () => processesOf(orphans).length === 0);
      expect(await overlapMs(job, orphans, again)).toBeLessThan(ISOLATION_MS);

      await suite.plug(isolated);
      await suite.continue(isolated.name);
      expect((await job.end()).exitCode).toBe(0);
      expect(job.starts()).toEqual([...before, ...again]);
    });
  });

  const fill = cluster.settings.smallDisk === 0 ? test.skip : test;

  fill(
    "has a full disk: YARN takes its containers away, its tasks move, no program budget pays, the log says what is full",
    async () => {
      const node = chosen(cluster.settings.smallDisk);
      const job = await submitPartlyTo(node);
      const before = await job.running(1, 3);
      const { tasks } = await job.status("generation 1", ({ state }) => state === "running");
      suite.fill(node);

      const again = await job.running(2, 3);
      expectMoved(before, again, tasksOn(tasks, node));
      const lost = new RegExp(`^worker:\\d lost its node on ${hostOf(node)}`);
      const status = await job.status("YARN's word", ({ generations }) =>
        lost.test(generations[0]?.endedBy?.summary ?? ""),
      );
      expect(status.generations[0]?.endedBy).toMatchObject({ class: "infrastructure", host: hostOf(node) });
      expectLeft(status, node);
      await eventually("the node's own word", () => /"event":"node-unhealthy".*local-dirs/.test(job.masterLog()));

      await suite.empty(node);
      expect((await job.end()).exitCode).toBe(0);
      expect(job.starts()).toEqual([...before, ...again]);
    },
  );

  fill("lets no program run from its disk: the log says which folder of which node, and what to do", async () => {
    const node = chosen(cluster.settings.smallDisk);
    await suite.forbidPrograms(node);
    // A node that is stopped is given no ApplicationMaster; the job needs all three.
    await suite.stop(node.name);
    const job = await suite.submit({ workers: 3, settings: { ...SETTINGS, "tony.worker.memory": "5g" } });
    await job.master();
    await suite.continue(node.name);
    const said = `executor.cjs could not be started on ${hostOf(node)}: ${node.folder}/local lets no program run (it is mounted noexec)`;
    await eventually("what is wrong with the node", () => job.masterLog().includes(said));
    expect(job.starts()).toEqual([]);
  });
});

/** All that runs of these programs. */
const processesOf = (starts: readonly ProgramStart[]): number[] =>
  starts.flatMap(({ containerId }) => processesWith(PROGRAM_MARKER, containerId));

/** These tasks, and no others, run in other containers than before. */
function expectMoved(before: readonly ProgramStart[], again: readonly ProgramStart[], tasks: readonly string[]): void {
  const moved = again.filter(({ containerId }) => !before.some((start) => start.containerId === containerId));
  expect(moved.map(({ task }) => task)).toEqual(tasks);
}

/** Nothing of the job is on the node any more, and no program's budget paid for that. */
function expectLeft({ tasks, budgets }: JobStatus, node: ClusterNode, { charged = 1 } = {}): void {
  expect(tasksOn(tasks, node)).toEqual([]);
  expect(budgets).toMatchObject({ program: { used: 0 }, infrastructure: { used: charged } });
}

/** @param number from 1 */
function chosen(number: number): ClusterNode {
  const node = cluster.nodes[number - 1];
  if (node === undefined) throw new Error(`there is no node ${number}`);
  return node;
}

const hostOf = ({ nodeId }: ClusterNode): string => nodeId.replace(/:\d+$/, "");

function nodeAt(host = "nowhere"): ClusterNode {
  const node = cluster.nodes.find((candidate) => hostOf(candidate) === host);
  if (node === undefined) throw new Error(`no node is at ${host}`);
  return node;
}

const tasksOn = (tasks: readonly TaskStatus[], node: ClusterNode): string[] =>
  tasks.filter(({ host }) => host === hostOf(node)).map(({ task }) => task);

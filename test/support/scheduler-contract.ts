import { existsSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Scheduler } from "../../am/scheduler/scheduler.ts";
import { readTokenFile } from "../../src/hadoop/security/token-file.ts";
import { endedBecause } from "../../src/job/outcome.ts";
import type { ShippedFile } from "../../src/job/stored/job-file.ts";
import { eventually } from "./eventually.ts";
import { SchedulerBench, SMALL } from "./scheduler-bench.ts";

export interface ContainersUnderTest {
  readonly scheduler: Scheduler;
  readonly dispose: () => Promise<void>;
}

export interface SchedulerUnderTest extends ContainersUnderTest {
  /** Puts a file where the scheduler's containers can get it. */
  readonly store: (name: string, content: string) => Promise<ShippedFile>;
}

/** All scripts that the tests of `describeContainers` run: a model of containers need understand no other. */
export const SCRIPTS = { endless: "sleep 600", exits: "exit 7", isKilled: "kill -KILL $$" } as const;

/** What every scheduler that runs programs does alike. */
export function describeScheduler(name: string, open: () => Promise<SchedulerUnderTest>): void {
  describe(`${name} as a scheduler`, () => {
    const opened = useBench(open);
    containerTests(() => opened().bench);
    processTests(opened);
    quietTest(() => opened().bench);
    processEndTest(() => opened().bench);
  });
}

/** What holds for containers whoever runs them, and also where nobody does. */
export function describeContainers(name: string, open: () => Promise<ContainersUnderTest>): void {
  describe(`${name} as a scheduler`, () => {
    const opened = useBench(open);
    containerTests(() => opened().bench);
    quietTest(() => opened().bench);
    endTest(() => opened().bench);
  });
}

function useBench<Under extends ContainersUnderTest>(open: () => Promise<Under>) {
  let opened: { readonly under: Under; readonly bench: SchedulerBench } | undefined;
  beforeAll(async () => {
    const under = await open();
    const bench = new SchedulerBench(under.scheduler);
    opened = { under, bench };
    await bench.start();
  });
  afterAll(async () => {
    await opened?.bench.close();
    await opened?.under.dispose();
  });
  return () => {
    if (opened === undefined) throw new Error("a test runs before its scheduler is open");
    return opened;
  };
}

function containerTests(bench: () => SchedulerBench): void {
  test("registering says which attempt this is", async () => {
    const event = await bench().next("am-registered", () => true);
    expect(event.attempt).toBe(1);
    await bench().next("nodes-changed", () => true);
  });

  test("an ask brings that many containers of its priority, none smaller than asked", async () => {
    const ask = bench().anAsk(2);
    const containers = await bench().allocated(ask);

    expect(containers.map((container) => container.priority)).toEqual([ask.priority, ask.priority]);
    expect(new Set(containers.map(({ containerId }) => containerId)).size).toBe(2);
    for (const { resource } of containers) expect(resource.memoryMiB).toBeGreaterThanOrEqual(SMALL.memoryMiB);
    bench().call(() => bench().scheduler.release(containers.map(({ containerId }) => containerId)));
  });

  test("an ask that is withdrawn before it was met brings nothing", async () => {
    const { scheduler, events } = bench();
    const ask = bench().anAsk(3);
    bench().call(() => scheduler.ask([ask]));
    bench().call(() => scheduler.ask([{ ...ask, count: 0 }]));
    const [later] = await bench().allocated(bench().anAsk(1));

    const given = events.rest.flatMap((event) => (event.type === "containers-allocated" ? event.containers : []));
    expect(given.filter((container) => container.priority === ask.priority)).toEqual([]);
    bench().call(() => scheduler.release([later?.containerId ?? ""]));
  });

  test("a container says how it ended", async () => {
    const containerId = await bench().running(SCRIPTS.exits);
    await bench().next("launch-succeeded", (event) => event.containerId === containerId);
    expect(await bench().completed(containerId)).toMatchObject({ exitStatus: 7 });
  });

  test("a process that a signal ended is reported as 128 and the signal's number", async () => {
    const containerId = await bench().running(SCRIPTS.isKilled);
    expect(await bench().completed(containerId)).toMatchObject({ exitStatus: 137 });
  });

  test("a container that is stopped ends as −105", async () => {
    const containerId = await bench().running(SCRIPTS.endless);
    await bench().next("launch-succeeded", (event) => event.containerId === containerId);
    bench().call(() => bench().scheduler.stop(containerId));
    expect(await bench().completed(containerId)).toMatchObject({ exitStatus: -105 });
  });

  test("a container that is given back ends as −100, started or not", async () => {
    const containerId = await bench().running(SCRIPTS.endless);
    await bench().next("launch-succeeded", (event) => event.containerId === containerId);
    const [unused] = await bench().allocated(bench().anAsk(1));
    bench().call(() => bench().scheduler.release([containerId, unused?.containerId ?? ""]));

    expect(await bench().completed(containerId)).toMatchObject({ exitStatus: -100 });
    expect(await bench().completed(unused?.containerId ?? "")).toMatchObject({ exitStatus: -100 });
  });

  test("whoever asks is still in charge", async () => {
    expect(await bench().scheduler.confirm()).toBe(true);
  });

  test("more than a container may have is refused, for waiting would not bring it", async () => {
    const resource = { ...SMALL, memoryMiB: 2 ** 30 };
    bench().call(() => bench().scheduler.ask([bench().anAsk(1, { resource })]));
    const refused = await bench().events.next(
      (event) => event.type === "ask-refused" || (event.type === "ask-too-large" && event.configured !== undefined),
    );
    expect(refused).toMatchObject({ message: expect.stringMatching(/memory/i) });
  });
}

function processTests(opened: () => { readonly under: SchedulerUnderTest; readonly bench: SchedulerBench }): void {
  test("a container runs its command with its files, its environment and its credentials", async () => {
    const { under, bench } = opened();
    const file = await under.store("given.txt", "content");
    const script =
      "cat given.txt > $OUTPUT; cat $HADOOP_TOKEN_FILE_LOCATION > $OUTPUT.tokens; echo $OWN > <LOG_DIR>/own; exit 7";
    const environment = { OWN: "value of \\$HOME", OUTPUT: `${bench.folder}/a` };
    const containerId = await bench.running(script, { files: [file], environment });

    expect(await bench.completed(containerId)).toMatchObject({ exitStatus: 7 });
    expect((await bench.outputOf("a")).toString()).toBe("content");
    expect(readTokenFile(await bench.outputOf("a", ".tokens")).secrets.get("word")).toEqual(Buffer.from("hush"));
  });

  test("a container knows who and where it is", async () => {
    const { bench } = opened();
    const script = "echo $CONTAINER_ID $NM_HOST $PWD $LOG_DIRS > $OUTPUT.part; mv $OUTPUT.part $OUTPUT; sleep 600";
    const containerId = await bench.running(script);
    const [id, host, work, logs] = (await bench.outputOf(containerId)).toString().trim().split(" ");

    expect(id).toBe(containerId);
    expect(host).toMatch(/^127\./);
    expect(path.isAbsolute(work ?? "")).toBe(true);
    expect(path.isAbsolute(logs ?? "")).toBe(true);
    bench.call(() => bench.scheduler.stop(containerId));
    await bench.completed(containerId);
  });

  test("all processes of a container that is stopped end with it", async () => {
    const { bench } = opened();
    const script =
      "trap '' TERM; (trap '' TERM; echo $BASHPID > $OUTPUT.part; mv $OUTPUT.part $OUTPUT; sleep 600; sleep 600) & sleep 600; sleep 600";
    const containerId = await bench.running(script);
    const pid = Number((await bench.outputOf(containerId)).toString());
    bench.call(() => bench.scheduler.stop(containerId));

    expect(await bench.completed(containerId)).toMatchObject({ exitStatus: -105 });
    await eventually("the end of its processes", async () => !existsSync(`/proc/${pid}`));
  });

  test("a file that is not what was submitted keeps its container from running, and is named", async () => {
    const { under, bench } = opened();
    const file = await under.store("changed.txt", "content");
    const containerId = await bench.running("touch $OUTPUT", { files: [{ ...file, modificationTimeMs: 1 }] });
    const end = await bench.events.next(
      (event) =>
        (event.type === "launch-failed" && event.containerId === containerId) ||
        (event.type === "container-completed" && event.containerId === containerId),
    );

    expect(JSON.stringify(end)).toContain("changed.txt");
    expect(existsSync(path.join(bench.folder, containerId))).toBe(false);
  });
}

function quietTest(bench: () => SchedulerBench): void {
  test("nothing is ever told within the call that caused it", () => {
    expect(bench().withinCalls).toEqual([]);
  });

  test("a first attempt is told of no containers of an earlier one", () => {
    expect(bench().events.rest.filter(({ type }) => type === "containers-recovered-late")).toEqual([]);
  });
}

const outcome = endedBecause("succeeded", { code: "tasks-ended", succeeded: 1, tasks: 1, onlyTracked: false });

function processEndTest(bench: () => SchedulerBench): void {
  test("at the end what still runs is ended too", async () => {
    const containerId = await bench().running("echo $$ > $OUTPUT.part; mv $OUTPUT.part $OUTPUT; sleep 600");
    const pid = Number((await bench().outputOf(containerId)).toString());
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    await bench().scheduler.finish({ ...outcome, endedAtMs: Date.now() });
    expect(await eventually("the end of its processes", async () => !existsSync(`/proc/${pid}`))).toBe(true);
  });
}

function endTest(bench: () => SchedulerBench): void {
  test("whose end was taken was in charge", async () => {
    expect(await bench().scheduler.finish({ ...outcome, endedAtMs: Date.now() })).toBe(true);
    expect(await bench().scheduler.confirm()).toBe(true);
  });
}

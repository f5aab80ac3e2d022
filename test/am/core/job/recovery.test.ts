import { describe, expect, test } from "@jest/globals";
import { Bounds } from "../../../../am/core/state/bounds.ts";
import type { AllocatedContainer } from "../../../../am/core/state/events.ts";
import { searchRun } from "../../../../src/job/build/search-run.ts";
import { stopWithinMs } from "../../../../src/job/silence.ts";
import { searchOf } from "../../../job/search/support.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { childExit } from "../../../support/child-exit.ts";
import { asksOf, Scenario, sentOf, typesOf } from "../scenario.ts";

const spec = jobSpec([role("worker", 2)]);

function running(job = spec) {
  const scenario = new Scenario(job);
  scenario.register();
  const kept = [scenario.container(1), scenario.container(1)];
  scenario.on({ type: "containers-allocated", containers: kept });
  scenario.readyAll();
  scenario.startedAll();
  scenario.after(1_000);
  return { scenario, kept };
}

/** Both containers are there, one of their executors has registered. */
function gathering() {
  const scenario = new Scenario(spec);
  scenario.register();
  const kept = [scenario.container(1), scenario.container(1)];
  scenario.on({ type: "containers-allocated", containers: kept });
  scenario.ready("worker:0");
  scenario.after(1_000);
  return { scenario, kept };
}

/** Of two kept containers one is claimed by worker:1; the other goes back in time, and one is asked for in its place. */
function oneOfTwoIsClaimed(scenario: Scenario): void {
  const claim = { task: "worker:1", containerId: "c2", host: "n2", tensorboardPort: 0, rejoinAddress: "n2:9" };
  scenario.on({ type: "executor-registered", ...claim, generation: 1, port: 4000, child: { state: "none" } });
  expect(scenario.task("worker:1")).toMatchObject({ containerId: "c2", phase: "registered" });
  const effects = scenario.after(45_000);
  expect(effects).toContainEqual({ type: "release", containerIds: ["c1"], reason: "no executor claimed it" });
  expect(asksOf(effects)).toMatchObject([{ role: "worker", count: 1 }]);
}

const program = { state: "running", pid: 7, startedAtMs: 1_000_000 } as const;

describe("when the ApplicationMaster dies", () => {
  test("its executors are called and come back, and no program is started, stopped or asked for", () => {
    const { scenario, kept } = running();
    const effects = scenario.crash(kept);
    expect(effects).toContainEqual({
      type: "rejoin",
      executors: [
        { task: "worker:0", containerId: "c1", address: "n1:9" },
        { task: "worker:1", containerId: "c2", address: "n2:9" },
      ],
    });
    effects.push(...scenario.reports("worker:0", program), ...scenario.reports("worker:1", program));
    expect(typesOf(effects)).not.toContain("ask");
    expect(typesOf(effects)).not.toContain("blacklist");
    expect(effects.filter(({ type }) => type === "send")).toEqual([]);
    // That they started is in the job's history already.
    const events = effects.flatMap((effect) => (effect.type === "record" ? [effect.event.type] : []));
    expect(events).toEqual(["recovered"]);
    expect(scenario.job).toMatchObject({ phase: "running", generation: 1, attempt: 2 });
    const takeover = { attempt: 2, atMs: expect.any(Number) };
    expect(scenario.core.state.takeovers).toEqual([takeover]);
    expect(scenario.gang.generations[0]?.runningAtMs).toBeLessThan(scenario.nowMs);
    scenario.crash(kept);
    expect(scenario.core.state.takeovers).toEqual([takeover, { ...takeover, attempt: 3 }]);
    scenario.reports("worker:0", program);
    scenario.reports("worker:1", program);
    scenario.exits("worker:0");
    scenario.exits("worker:1");
    expect(scenario.core.state.outcome?.result).toBe("succeeded");
  });

  test("what comes before its journal is read waits for it: no executor is dismissed, and what YARN said is known", () => {
    const { scenario, kept } = running();
    const back = {
      type: "executor-registered",
      task: "worker:0",
      containerId: "c1",
      generation: 1,
      host: "n1",
      port: 0,
      tensorboardPort: 0,
      rejoinAddress: "n1:9",
      child: program,
    } as const;
    const diagnostics = { stderr: [], words: ["is running beyond physical memory limits"] };
    const effects = scenario.crash(kept, [
      back,
      { type: "container-completed", containerId: "c2", exitStatus: -104, diagnostics },
    ]);

    expect(effects.filter(({ type }) => type === "send")).not.toContainEqual(
      expect.objectContaining({ message: expect.objectContaining({ type: "exit" }) }),
    );
    expect(scenario.core.state.containers.c1).toMatchObject({ link: "up", task: "worker:0" });
    expect(scenario.gang.generations[0]?.endedBy?.summary).toContain("worker:1");
  });

  test("a gang that holds a part of its containers gives them back in time all the same", () => {
    const scenario = new Scenario(spec);
    scenario.register();
    const held = [scenario.container(1)];
    scenario.on({ type: "containers-allocated", containers: held });
    scenario.ready("worker:0");
    scenario.after(10_000);
    scenario.crash(held);
    scenario.ready("worker:0");
    const effects = scenario.after(spec.timeouts.gangHoldMs);

    expect(effects).toContainEqual(expect.objectContaining({ type: "release", containerIds: ["c1"] }));
  });

  test("a program that is to stop has its time to be heard again, even if the next machine's clock is behind", () => {
    const { scenario, kept } = running();
    scenario.exits("worker:0", { exitCode: 1 });
    scenario.nowMs -= 20_000;
    scenario.crash(kept);
    scenario.after(Bounds.rejoinMs - 1);
    scenario.reports("worker:1", { state: "exited", exit: childExit(scenario.nowMs, { exitCode: 1 }) });
    expect(scenario.task("worker:1").containerId).toBe("c2");
    expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
  });

  test("nothing is awaited longer because the next machine's clock is hours behind", () => {
    const { scenario, kept } = running();
    scenario.exits("worker:0", { exitCode: 1 });
    scenario.nowMs -= 10_000_000;
    scenario.crash(kept);
    scenario.reports("worker:1", program);
    scenario.after(Bounds.rejoinMs + spec.timeouts.verdictMs);
    expect(scenario.task("worker:1")).toMatchObject({ phase: "waiting", generation: 2 });
  });

  test("the pause before a restart is not longer for that either", () => {
    const { scenario, kept } = running();
    for (let restart = 1; restart <= 2; restart++) {
      scenario.exits("worker:0", { exitCode: 1 });
      scenario.stops("worker:1");
      scenario.readyAll();
      scenario.startedAll();
    }
    scenario.after(500);
    expect(scenario.job.phase).toBe("gathering");
    scenario.nowMs -= 10_000_000;
    scenario.crash(kept);
    scenario.readyAll();
    scenario.after(spec.failure.backOff.maxMs);
    expect(scenario.job).toMatchObject({ phase: "running", generation: 3 });
  });

  test("a gang that gave its containers back does not ask for them later for that either", () => {
    const scenario = new Scenario(spec);
    scenario.register();
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    scenario.ready("worker:0");
    scenario.after(spec.timeouts.gangHoldMs);
    expect(scenario.gang.hold.returns).toBe(1);
    scenario.nowMs -= 500_000;
    scenario.crash([]);
    expect(asksOf(scenario.after(60_000))).toMatchObject([{ role: "worker", count: 2 }]);
  });

  test("a limit on a program's time is not passed because the next machine's clock is ahead", () => {
    const scenario = new Scenario({ ...spec, timeouts: { ...spec.timeouts, executionMs: 600_000 } });
    scenario.toRunning();
    scenario.after(1_000);
    scenario.nowMs += 3_600_000;
    scenario.crash([]);
    scenario.reports("worker:0", program);
    scenario.reports("worker:1", program);
    scenario.after(120_000);

    expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
  });

  test("an executor is called at the address that it reported last", () => {
    const { scenario, kept } = running();
    scenario.breaks("worker:0");
    const { containerId, generation, host } = scenario.task("worker:0");
    const back = { task: "worker:0", containerId, generation, host, port: 4000, tensorboardPort: 0, child: program };
    scenario.on({ type: "executor-registered", ...back, rejoinAddress: "n1:10" });
    scenario.after(1_000);
    const effects = scenario.crash(kept);
    const dialled = effects.flatMap((effect) => (effect.type === "rejoin" ? effect.executors : []));
    expect(dialled.map(({ address }) => address)).toEqual(["n1:10", "n2:9"]);
  });

  test("a program that ended meanwhile is reported by its executor, and counts once", () => {
    const { scenario, kept } = running();
    scenario.exits("worker:0");
    scenario.after(1_000);
    scenario.crash(kept);
    const child = { state: "exited", exit: childExit(1, {}) } as const;
    expect(sentOf(scenario.reports("worker:0", child), "acknowledge-exit")).toEqual(["worker:0"]);
    scenario.reports("worker:1", child);
    expect(scenario.core.state.outcome?.summary).toBe("2 of 2 tasks exited 0");
  });

  test("an executor that does not come back in time is lost, and the gang restarts", () => {
    const { scenario, kept } = running();
    scenario.crash(kept);
    scenario.reports("worker:0", program);
    scenario.after(45_000);
    expect(scenario.job).toMatchObject({ generation: 2 });
    expect(scenario.used).toMatchObject({ program: 0, infrastructure: 1 });
    expect(scenario.core.state.blame).toEqual({});
    expect(scenario.task("worker:1").phase).toBe("waiting");
  });

  test("during gathering: it goes on in the same generation and containers, once every executor was heard again", () => {
    const { scenario, kept } = gathering();
    scenario.crash(kept);
    expect(scenario.phases()).toBe("worker:0 launched, worker:1 allocated");
    expect(sentOf(scenario.ready("worker:1"), "start-child")).toEqual([]);
    expect(sentOf(scenario.ready("worker:0"), "start-child")).toEqual(["worker:0", "worker:1"]);
    expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
  });

  test("a kept container that the journal does not know is claimed by its executor, or given back", () => {
    const scenario = new Scenario(spec);
    scenario.register();
    const kept = [scenario.container(1), scenario.container(1)];
    const asks = asksOf(scenario.crash(kept));
    expect(asks).toEqual([]);
    oneOfTwoIsClaimed(scenario);
  });

  test("a container that an earlier attempt had stopped ended as it was told: its machine is not to blame, and nobody pays", () => {
    const scenario = new Scenario(spec);
    scenario.register();
    scenario.crash([scenario.container(1), scenario.container(1)]);
    oneOfTwoIsClaimed(scenario);
    scenario.completes("c2", 0);
    expect(scenario.core.state.blame).toEqual({});
    expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
  });

  test("one whose executor names a task that lives elsewhere goes back, and what it says late claims it for no task", () => {
    const scenario = new Scenario(spec);
    scenario.register();
    scenario.crash([scenario.container(1), scenario.container(1)]);
    const registration = { task: "worker:1", host: "n1", tensorboardPort: 0, rejoinAddress: "n1:9", generation: 1 };
    const says = (containerId: string) =>
      scenario.on({ type: "executor-registered", ...registration, containerId, port: 4000, child: { state: "none" } });
    says("c1");
    const effects = says("c2");
    expect(sentOf(effects, "exit")).toEqual(["worker:1"]);
    expect(effects).toContainEqual(expect.objectContaining({ type: "release", containerIds: ["c2"] }));
    const diagnostics = { stderr: [], words: [] };
    scenario.on({ type: "container-completed", containerId: "c1", exitStatus: -100, diagnostics });
    expect(sentOf(says("c2"), "exit")).toEqual(["worker:1"]);
    expect(scenario.task("worker:1").containerId).not.toBe("c2");
  });

  describe("and YARN names a kept container only after the attempt has registered,", () => {
    const late = (scenario: Scenario, containers: readonly AllocatedContainer[]) =>
      scenario.on({ type: "containers-recovered-late", containers });

    test("one that the journal knows is neither given up nor asked for again", () => {
      const { scenario, kept } = running();
      scenario.crash([]);
      expect(typesOf(late(scenario, kept))).not.toEqual(expect.arrayContaining(["release", "ask"]));
      scenario.reports("worker:0", program);
      scenario.reports("worker:1", program);
      expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
    });

    test("one that the journal does not know takes the place of one that was asked for, until its executor names its task", () => {
      const scenario = new Scenario(spec);
      scenario.register();
      const containers = [scenario.container(1), scenario.container(1)];
      expect(asksOf(scenario.crash([]))).toMatchObject([{ role: "worker", count: 2 }]);
      expect(asksOf(late(scenario, containers))).toMatchObject([{ role: "worker", count: 0 }]);
      oneOfTwoIsClaimed(scenario);
    });

    test("one that YARN names only after a pause of the attempt does the same, and shortens nobody's time", () => {
      const scenario = new Scenario(spec);
      scenario.register();
      const containers = [scenario.container(1), scenario.container(1)];
      scenario.crash([]);
      scenario.on({ type: "paused" });
      scenario.after(Bounds.rejoinMs);
      late(scenario, containers);
      oneOfTwoIsClaimed(scenario);
    });

    test("one that comes while the journal is being read waits until that is read", () => {
      const { scenario, kept } = running();
      const effects = scenario.crash([], [{ type: "containers-recovered-late", containers: kept }]);
      expect(typesOf(effects)).not.toContain("release");
      expect(Object.keys(scenario.core.state.containers)).toEqual(["c1", "c2"]);
    });

    test("an unknown one that comes when no executor looks for the attempt any more is given back", () => {
      const { scenario, kept } = running();
      scenario.crash(kept);
      scenario.reports("worker:0", program);
      scenario.reports("worker:1", program);
      scenario.after(120_000);
      const effects = late(scenario, [scenario.container(1)]);
      expect(effects).toContainEqual(expect.objectContaining({ type: "release", containerIds: ["c3"] }));
      expect(effects).toContainEqual(expect.objectContaining({ type: "stop-container", containerId: "c3" }));
      expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
    });

    test("one whose end is already known is not added to the state again", () => {
      const { scenario } = running();
      scenario.crash([]);
      const unknown = scenario.container(1);
      scenario.on({
        type: "container-completed",
        containerId: unknown.containerId,
        exitStatus: 0,
        diagnostics: { stderr: [], words: [] },
      });
      late(scenario, [unknown]);
      expect(scenario.core.state.containers).not.toHaveProperty(unknown.containerId);
    });

    test("the earlier ApplicationMaster's own container goes back", () => {
      const { scenario } = running();
      scenario.crash([]);
      const effects = late(scenario, [scenario.container(0)]);
      expect(effects).toContainEqual(expect.objectContaining({ type: "release", containerIds: ["c3"] }));
    });
  });

  test("without a journal the job starts again and says why", () => {
    const { scenario, kept } = running();
    scenario.journal = undefined;
    const effects = scenario.crash(kept);
    expect(effects.filter(({ type }) => type === "stop-container")).toHaveLength(2);
    expect(asksOf(effects)).toMatchObject([{ role: "worker", count: 2 }]);
    expect(scenario.gang.restartReason).toBe("the earlier attempt of the ApplicationMaster left no journal");
    expect(effects).toContainEqual(
      expect.objectContaining({
        ...{ level: "warn", event: "recovery-impossible" },
        message: "The job starts again: the earlier attempt of the ApplicationMaster left no journal.",
      }),
    );
    expect(scenario.core.state.takeovers).toEqual([{ attempt: 2, atMs: scenario.nowMs }]);
  });

  test("without a journal the trials that begin again say why, and those that have not begun do not", () => {
    const search = { ...searchOf({ x: "float 0 1" }), algorithm: "random", maxTrials: 2, maxParallel: 1 } as const;
    const scenario = new Scenario(searchRun(jobSpec([role("worker", 2)]), search));
    scenario.toRunning();
    scenario.journal = undefined;
    scenario.crash([]);
    expect(scenario.core.state.gangs.map(({ restartReason }) => restartReason)).toEqual([
      "the earlier attempt of the ApplicationMaster left no journal",
      "",
    ]);
  });

  test.each([
    ["another application", { applicationId: "application_1_0002" }],
    ["no application", { applicationId: undefined }],
  ])("with a journal of %s the job starts again", (_, change) => {
    const { scenario, kept } = running();
    scenario.journal = { ...JSON.parse(JSON.stringify(scenario.journal)), ...change };
    expect(asksOf(scenario.crash(kept))).toMatchObject([{ role: "worker", count: 2 }]);
    expect(scenario.gang.restartReason).toContain("left a journal that version");
  });

  test("both gangs of it go on as starting whose cluster specs may be out", () => {
    const job = jobSpec([role("worker", 1), role("scorer", 1, { dependsOn: ["worker"] }), role("reader", 1)]);
    const scenario = new Scenario(job);
    scenario.register();
    scenario.allocateAll();
    scenario.journalAnswers = false;
    scenario.readyAll();
    const write = scenario.effects.findLast((effect) => effect.type === "journal");
    scenario.journal = write?.type === "journal" ? JSON.parse(write.snapshot) : undefined;
    scenario.journalAnswers = true;
    scenario.crash([]);
    expect(scenario.core.state.gangs.filter(({ phase }) => phase === "running")).toHaveLength(1);
    expect(scenario.phases()).toBe("worker:0 starting, scorer:0 waiting, reader:0 starting");
  });

  test("it says that it goes on, and with what", () => {
    const { scenario, kept } = running();
    expect(scenario.crash(kept)).toContainEqual(
      expect.objectContaining({
        event: "recovered",
        message: "Attempt 2 goes on with generation 1: 2 containers kept.",
      }),
    );
  });

  test("before it had begun anything, the next attempt says that it goes on with nothing", () => {
    const scenario = new Scenario(spec);
    scenario.on({ type: "stop-requested", reason: "stopped by alice" });
    expect(scenario.crash([])).toContainEqual(
      expect.objectContaining({ message: "Attempt 2 goes on with generation 0: 0 containers kept." }),
    );
  });

  test("the next attempt is in the journal at once, whose numbers go on", () => {
    const { scenario, kept } = running();
    const { sequence } = scenario.core.state.journal;
    scenario.crash(kept);
    scenario.after(1_000);
    expect(scenario.journal).toMatchObject({ takeovers: [{ attempt: 2 }], sequence: sequence + 1 });
  });

  test("and its journal was read, another reading of it changes nothing", () => {
    const { scenario, kept } = running();
    scenario.crash(kept);
    scenario.reports("worker:0", program);
    scenario.reports("worker:1", program);
    const { journal } = scenario;
    expect(scenario.on({ type: "recovered", journal, keptContainers: [] })).toEqual([]);
    expect(scenario.core.state.containers).toMatchObject({ c1: { link: "up" }, c2: { link: "up" } });
  });

  test("only executors that have given an address are called", () => {
    const { scenario, kept } = gathering();
    const dialled = scenario.crash(kept).flatMap((effect) => (effect.type === "rejoin" ? effect.executors : []));
    expect(dialled).toEqual([{ task: "worker:0", containerId: "c1", address: "n1:9" }]);
  });

  test("before any executor has given an address, none is called", () => {
    const scenario = new Scenario(spec);
    scenario.register();
    scenario.allocateAll();
    scenario.after(1_000);
    expect(typesOf(scenario.crash([]))).not.toContain("rejoin");
  });

  test("a container that it had given up is stopped again, for the same reason, and its executor is not called", () => {
    const { scenario } = running();
    scenario.exits("worker:0", { signal: "SIGBUS" });
    scenario.after(1_000);
    const stops = scenario.effects.filter(({ type }) => type === "stop-container");
    expect(stops).toMatchObject([{ containerId: "c1" }]);
    const effects = scenario.crash([]);
    expect(effects.filter(({ type }) => type === "stop-container")).toEqual(stops);
    const dialled = effects.flatMap((effect) => (effect.type === "rejoin" ? effect.executors : []));
    expect(dialled.map(({ containerId }) => containerId)).toEqual(["c2"]);
  });

  test("a task to which it had handed a container is launched there again, and nothing else is", () => {
    const scenario = new Scenario(jobSpec([role("prep", 1), role("worker", 2, { dependsOn: ["prep"] })]));
    scenario.toRunning();
    scenario.exits("prep:0");
    scenario.on({ type: "containers-allocated", containers: [scenario.container(2)] });
    scenario.after(1_000);
    expect(scenario.phases()).toBe("prep:0 succeeded, worker:0 allocated, worker:1 allocated");
    const launched = scenario
      .crash([])
      .flatMap((effect) => (effect.type === "launch" || effect.type === "relaunch" ? effect.launches : []));
    expect(launched).toMatchObject([{ containerId: "c1", task: "worker:0" }]);
  });

  test("a stage that the journal knows is done is followed by the next one, whether or not that can be written", () => {
    const scenario = new Scenario(jobSpec([role("prep", 1), role("worker", 1, { dependsOn: ["prep"] })]));
    scenario.toRunning();
    scenario.after(1_000);
    scenario.journalAnswers = false;
    const write = scenario.exits("prep:0").find((effect) => effect.type === "journal");
    scenario.journal = JSON.parse(write?.snapshot ?? "");
    scenario.journalAnswers = true;
    scenario.journalWorks = false;
    scenario.crash([]);
    expect(scenario.core.state.gangs.map(({ phase }) => phase)).toEqual(["done", "gathering"]);
  });

  test("a program may run for the whole of its limit again, but not longer", () => {
    const scenario = new Scenario({ ...spec, timeouts: { ...spec.timeouts, executionMs: 600_000 } });
    scenario.toRunning();
    scenario.after(300_000);
    scenario.crash([]);
    scenario.reports("worker:0", program);
    scenario.reports("worker:1", program);
    scenario.after(599_000);
    expect(scenario.gang.generation).toBe(1);
    scenario.after(1_000 + stopWithinMs(spec.timeouts));
    expect(scenario.gang.generation).toBe(2);
  });

  test("with a journal of another version the job starts again, too, and says that it cannot be read", () => {
    const { scenario, kept } = running();
    scenario.journal = { ...JSON.parse(JSON.stringify(scenario.journal)), journalVersion: 1 };
    scenario.crash(kept);
    expect(scenario.gang.restartReason).toMatch(/left a journal that version \d+ cannot read$/);
  });

  test("without a journal stages that were ahead say why, too, when their turn comes", () => {
    const scenario = new Scenario(jobSpec([role("prep", 1), role("worker", 1, { dependsOn: ["prep"] })]));
    scenario.toRunning();
    scenario.journal = undefined;
    scenario.crash([]);
    expect(scenario.core.state.gangs.map(({ restartReason }) => restartReason)).toEqual([
      "the earlier attempt of the ApplicationMaster left no journal",
      "the earlier attempt of the ApplicationMaster left no journal",
    ]);
  });

  test("after the outcome was written the next attempt finishes at once, whether or not it can write", () => {
    const { scenario, kept } = running();
    scenario.on({ type: "stop-requested", reason: "stopped by alice" });
    scenario.journalWorks = false;
    expect(typesOf(scenario.crash(kept))).toContain("unregister");
  });

  test("a container that YARN names late is not kept for anybody once the job ends", () => {
    const { scenario } = running();
    scenario.crash([]);
    scenario.on({ type: "stop-requested", reason: "enough" });
    const effects = scenario.on({ type: "containers-recovered-late", containers: [scenario.container(1)] });
    expect(effects).toContainEqual(expect.objectContaining({ type: "release", containerIds: ["c3"] }));
  });

  test("a program that runs where another task ran before is no reason to begin it again", () => {
    const job = jobSpec([role("prep", 1), role("worker", 1, { dependsOn: ["prep"] })]);
    const scenario = new Scenario(job);
    scenario.toRunning();
    scenario.exits("prep:0");
    scenario.ready("worker:0");
    expect(scenario.task("worker:0").phase).toBe("starting");
    expect(typesOf(scenario.crash([]))).not.toContain("relaunch");
    scenario.reports("worker:0", { state: "running", pid: 7, startedAtMs: scenario.nowMs });
    expect(scenario.task("worker:0")).toMatchObject({ phase: "running", containerId: "c1" });
  });

  test("after the outcome was decided the next attempt only finishes", () => {
    const { scenario, kept } = running();
    scenario.on({ type: "stop-requested", reason: "stopped by alice" });
    const effects = scenario.crash(kept);
    expect(effects.filter(({ type }) => type === "stop-container")).toHaveLength(2);
    expect(typesOf(effects)).toContain("unregister");
    expect(scenario.core.state.outcome).toMatchObject({ result: "killed", summary: "stopped by alice" });
  });
});

test("killed right after the cluster spec went out: the journal said so before, and no program is restarted", () => {
  const scenario = new Scenario(jobSpec([role("worker", 2)]));
  scenario.register();
  const given = [scenario.container(1), scenario.container(1)];
  scenario.on({ type: "containers-allocated", containers: given });
  expect(sentOf(scenario.readyAll(), "start-child")).toEqual(["worker:0", "worker:1"]);
  const before = scenario.effects.length;
  scenario.crash(given);
  scenario.reports("worker:0", { state: "running", pid: 7, startedAtMs: scenario.nowMs });
  expect(sentOf(scenario.ready("worker:1"), "start-child")).toEqual(["worker:1"]);
  expect(scenario.phases()).toBe("worker:0 running, worker:1 starting");
  expect(scenario.job).toMatchObject({ generation: 1, phase: "running" });
  expect(sentOf(scenario.effects.slice(before), "prepare")).toEqual([]);
});

test("while the journal is being read, an executor registers and is lost: the gang restarts, whatever was reported again before", () => {
  const scenario = new Scenario(spec);
  scenario.register();
  const kept = [scenario.container(1), scenario.container(1)];
  scenario.on({ type: "containers-allocated", containers: kept });
  scenario.readyAll();
  const registered = { generation: 1, tensorboardPort: 0, child: { state: "none" } } as const;
  scenario.crash(kept, [
    ...["worker:0", "worker:1"].map((id) => {
      const { containerId, host, port } = scenario.task(id);
      const rejoinAddress = `${host}:9`;
      const type = "executor-registered";
      return { type, task: id, containerId, host, port, rejoinAddress, ...registered } as const;
    }),
    { type: "executor-lost", task: "worker:0", containerId: "c1", cause: "goodbye" },
  ]);

  expect(scenario.job).toMatchObject({ generation: 2, phase: "restarting" });
});

test("what was due while there was no attempt shortens nobody's time to come back", () => {
  const scenario = new Scenario(spec);
  scenario.register();
  const kept = [scenario.container(1), scenario.container(1)];
  scenario.on({ type: "containers-allocated", containers: kept });
  scenario.readyAll();
  scenario.after(1_000);
  scenario.nowMs += 70_000;
  scenario.crash(kept);
  scenario.after(30_000);
  expect(scenario.phases()).toBe("worker:0 starting, worker:1 starting");
  scenario.reports("worker:0", program);
  scenario.reports("worker:1", program);
  expect(scenario.job).toMatchObject({ generation: 1, phase: "running" });
});

describe("the gang restarts while an executor still looks for the new attempt", () => {
  const restarting = () => {
    const { scenario, kept } = running();
    scenario.crash(kept);
    scenario.reports("worker:0", program);
    scenario.exits("worker:0", { exitCode: 1, peerConnectionLost: true });
    return scenario;
  };

  test("that one has its whole time to come back, and is the cause when it does not", () => {
    const scenario = restarting();
    scenario.after(44_000);
    expect(scenario.task("worker:1")).toMatchObject({ phase: "stopping", containerId: "c2" });
    scenario.after(1_000);
    expect(scenario.task("worker:1")).toMatchObject({ phase: "waiting", generation: 2 });
    expect(scenario.used).toEqual({ program: 0, infrastructure: 1 });
  });

  test.each([9_000, 44_000])(
    "that one comes back after %s ms, and its program has its whole time to stop",
    (comesBackMs) => {
      const scenario = restarting();
      scenario.after(comesBackMs);
      expect(sentOf(scenario.reports("worker:1", program), "stop-child")).toEqual(["worker:1"]);
      scenario.after(spec.timeouts.stopGraceMs);
      expect(scenario.task("worker:1")).toMatchObject({ phase: "stopping", containerId: "c2" });
      scenario.stops("worker:1");
      expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
    },
  );

  test("that one's program does not stop in time, and its container is stopped", () => {
    const scenario = restarting();
    scenario.after(20_000);
    scenario.reports("worker:1", program);
    scenario.after(Bounds.rejoinMs - 20_000 + stopWithinMs(spec.timeouts));
    expect(scenario.core.state.containers.c2).toMatchObject({ phase: "terminating" });
  });
});

describe("the ApplicationMaster dies during a restart", () => {
  const noBackOff = { ...spec.failure, backOff: { initialMs: 0, maxMs: 0 } };
  const failing = (journal: "written" | "not written") => {
    const { scenario, kept } = running(jobSpec([role("worker", 2)], { failure: noBackOff }));
    scenario.journalWorks = journal === "written";
    const exit = { signal: "SIGKILL" };
    const effects = scenario.exits("worker:1", exit);
    scenario.journalWorks = true;
    return { scenario, kept, effects, exited: { state: "exited", exit: childExit(scenario.nowMs, exit) } as const };
  };
  const goesOn = (scenario: Scenario) => {
    scenario.stops("worker:0");
    expect(scenario.phases()).toBe("worker:0 preparing, worker:1 registered");
    expect(sentOf(scenario.ready("worker:0"), "start-child")).toEqual(["worker:0", "worker:1"]);
    expect(scenario.job).toMatchObject({
      phase: "running",
      generation: 2,
    });
    expect(scenario.used).toMatchObject({ program: 1, infrastructure: 0 });
    expect(scenario.effects.filter(({ type }) => type === "release" || type === "stop-container")).toEqual([]);
  };

  test("the next attempt completes it in the same generation and containers, with the failure counted once", () => {
    const { scenario, kept, effects } = failing("written");
    expect(sentOf(effects, "prepare")).toEqual(["worker:1"]);
    scenario.crash(kept);
    expect(sentOf(scenario.reports("worker:0", program), "stop-child")).toEqual(["worker:0"]);
    scenario.ready("worker:1");
    goesOn(scenario);
  });

  test("an executor that had not heard of it yet is told again", () => {
    const { scenario, kept, exited } = failing("written");
    scenario.crash(kept);
    scenario.reports("worker:0", program);
    const effects = scenario.reports("worker:1", exited, { generation: 1 });
    expect(sentOf(effects, "acknowledge-exit")).toEqual(["worker:1"]);
    expect(sentOf(effects, "prepare")).toEqual(["worker:1"]);
    scenario.ready("worker:1");
    goesOn(scenario);
  });

  test("before its journal was written, no executor was told of it, and the failure is reported again", () => {
    const { scenario, kept, effects, exited } = failing("not written");
    expect(sentOf(effects, "prepare")).toEqual([]);
    scenario.crash(kept);
    expect(scenario.job).toMatchObject({ generation: 1 });
    expect(scenario.used).toMatchObject({ program: 0 });
    scenario.reports("worker:0", program);
    expect(sentOf(scenario.reports("worker:1", exited), "stop-child")).toEqual(["worker:0"]);
    scenario.ready("worker:1");
    goesOn(scenario);
  });

  describe("before its journal was written, after it had ordered a program to stop", () => {
    const reason = "worker:1 was ended by SIGKILL on n2";
    const stoppedThenCrashed = () => {
      const { scenario, kept, exited } = failing("not written");
      scenario.crash(kept);
      const exit = childExit(scenario.nowMs, {
        signal: "SIGTERM",
        stopReason: { code: "generation-ended", why: reason },
      });
      scenario.reports("worker:0", { state: "exited", exit });
      return { scenario, exited };
    };

    test("the gang restarts in the same containers, and no budget pays for that program", () => {
      const { scenario } = stoppedThenCrashed();
      expect(scenario.job).toMatchObject({ generation: 2 });
      expect(scenario.used).toMatchObject({ program: 0, infrastructure: 0 });
      expect(sentOf(scenario.reports("worker:1", program), "stop-child")).toEqual(["worker:1"]);
      scenario.stops("worker:1");
      expect(scenario.effects.filter(({ type }) => type === "release" || type === "stop-container")).toEqual([]);
    });

    test("an executor reports the failure of its own program, which counts once and is the cause", () => {
      const { scenario, exited } = stoppedThenCrashed();
      scenario.reports("worker:1", exited, { generation: 1 });
      expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
      expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ task: "worker:1", exit: "SIGKILL" });
    });
  });
});

test("an open verdict stays open until executors have come back or are lost: the stronger cause takes it over", () => {
  const { scenario, kept } = running();
  scenario.exits("worker:0", { exitCode: 1, peerConnectionLost: true });
  scenario.crash(kept);
  expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
  scenario.after(45_000);
  expect(scenario.used).toEqual({ program: 0, infrastructure: 1 });
  expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ task: "worker:1", class: "infrastructure" });
});

describe("the ApplicationMaster dies as a task starts that waits for nobody", () => {
  const alone = () => {
    const scenario = new Scenario(jobSpec([role("worker", 2)], { distributedMode: "fcfs" }));
    scenario.register();
    const kept = [scenario.container(1), scenario.container(1)];
    scenario.on({ type: "containers-allocated", containers: kept });
    return { scenario, kept };
  };

  test("it starts only when the journal knows its container", () => {
    const { scenario } = alone();
    scenario.journalWorks = false;
    expect(sentOf(scenario.ready("worker:0"), "start-child")).toEqual([]);
    scenario.journalWorks = true;
    expect(sentOf(scenario.after(1_000), "start-child")).toEqual(["worker:0"]);
  });

  test("its program runs on, though the journal does not know of the start", () => {
    const { scenario, kept } = alone();
    scenario.ready("worker:0");
    const effects = scenario.crash(kept);
    effects.push(...scenario.reports("worker:0", program), ...scenario.after(10_000));
    expect(sentOf(effects, "prepare")).toEqual([]);
    expect(scenario.task("worker:0")).toMatchObject({ phase: "running", generation: 1 });
  });

  test("and its container is gone, the task may have run, so it starts again in a generation of its own", () => {
    const { scenario, kept } = alone();
    scenario.ready("worker:0");
    scenario.crash(kept);
    scenario.completes("c1", 137);
    expect(scenario.task("worker:0")).toMatchObject({ phase: "waiting", generation: 2 });
  });
});

test("a replaced attempt that had not noticed starts the gang, and the new one begins another generation", () => {
  const { scenario, kept } = gathering();
  scenario.crash(kept);
  expect(sentOf(scenario.reports("worker:0", program), "prepare")).toEqual(["worker:0"]);
  expect(scenario.job).toMatchObject({ generation: 2 });
  expect(scenario.used).toMatchObject({ program: 0, infrastructure: 0 });
});

describe("the ApplicationMaster had ended the job, and died before its journal said so", () => {
  test.each([
    ["its executor ended as it was told", 0, ""],
    ["it was stopped", -105, "Container killed by the ApplicationMaster."],
    ["it was given back", -100, "Container released by application"],
  ])(
    "a container is over, %s: its task starts again, no budget pays, and no machine is blamed",
    (_how, status, words) => {
      const { scenario } = running();
      scenario.crash([]);
      scenario.completes("c1", status, words);
      scenario.completes("c2", status, words);

      expect(scenario.phases()).toBe("worker:0 waiting, worker:1 waiting");
      expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
      expect(scenario.core.state.blame).toEqual({});
      expect(scenario.gang.restartReason).toBe(
        `worker:0 on n1 was stopped by an earlier attempt of the ApplicationMaster: container exit ${status}`,
      );
    },
  );

  test("what its peer exits with, whose connection it lost, is not the program's fault, though a third exited 0 before that was heard", () => {
    const scenario = new Scenario(jobSpec([role("worker", 3)]));
    scenario.toRunning();
    scenario.after(1_000);
    scenario.crash([1, 2].map((number) => scenario.container(1, { containerId: `c${number}` })));
    const lost = childExit(scenario.nowMs, { exitCode: 1, peerConnectionLost: true });
    scenario.reports("worker:1", { state: "exited", exit: childExit(scenario.nowMs, { exitCode: 0 }) });
    scenario.reports("worker:0", { state: "exited", exit: lost });
    expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
    scenario.completes("c3", -100, "Container released by application");

    expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
  });

  test("what its peer exits with, whose connection it lost, is not the program's fault", () => {
    const { scenario, kept } = running();
    scenario.crash(kept.slice(0, 1));
    const exit = childExit(scenario.nowMs, { exitCode: 1, peerConnectionLost: true });
    scenario.reports("worker:0", { state: "exited", exit });
    expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
    scenario.completes("c2", -100, "Container released by application");

    expect(scenario.gang.generations[0]?.endedBy).toBeUndefined();
    expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
    expect(scenario.core.state.blame).toEqual({});
  });

  const withScorer = (restartPolicy: "gang" | "task" = "gang") => {
    const scorer = role("scorer", 1, { restartPolicy: "none" });
    const scenario = new Scenario(jobSpec([role("worker", 1, { restartPolicy }), scorer]));
    scenario.toRunning();
    scenario.after(1_000);
    scenario.crash([]);
    scenario.reports("worker:0", program);
    return scenario;
  };

  test("a task that is never restarted starts again: it had not failed", () => {
    const scenario = withScorer();
    scenario.completes(scenario.task("scorer:0").containerId, 0);

    expect(scenario.phases()).toBe("worker:0 running, scorer:0 waiting");
  });

  test("a task that was taken for lost and that YARN reports like this is no longer charged", () => {
    const scenario = withScorer();
    const { containerId } = scenario.task("scorer:0");
    scenario.on({ type: "executor-lost", task: "scorer:0", containerId, cause: "goodbye" });
    scenario.completes(containerId, 0);
    scenario.stops("worker:0");

    expect(scenario.core.state.outcome).toBeUndefined();
    expect(scenario.phases()).toBe("worker:0 preparing, scorer:0 waiting");
    expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
  });

  test("tasks that live on their own do not change that, and the job goes on to its end", () => {
    const scenario = withScorer("task");
    const { containerId } = scenario.task("scorer:0");
    scenario.on({ type: "executor-lost", task: "scorer:0", containerId, cause: "goodbye" });
    scenario.completes(containerId, 0);
    expect(scenario.phases()).toBe("worker:0 running, scorer:0 waiting");
    scenario.allocateAll();
    scenario.readyAll();
    scenario.startedAll();
    scenario.exits("worker:0");
    scenario.exits("scorer:0");
    scenario.after(60_000);

    expect(scenario.core.state.outcome?.result).toBe("succeeded");
  });

  test("another task that had failed ends the job nevertheless", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1), role("scorer", 2, { restartPolicy: "none" })]));
    scenario.toRunning();
    scenario.after(1_000);
    scenario.crash([]);
    scenario.reports("worker:0", program);
    scenario.reports("scorer:0", program);
    scenario.exits("scorer:0", { signal: "SIGBUS" });
    const { containerId } = scenario.task("scorer:1");
    scenario.on({ type: "executor-lost", task: "scorer:1", containerId, cause: "goodbye" });
    scenario.completes(containerId, 0);
    scenario.stops("worker:0");
    scenario.after(60_000);

    expect(scenario.core.state.outcome).toMatchObject({ result: "failed", cause: { task: "scorer:0" } });
  });

  test("a program's own failure that its executor reports counts nevertheless", () => {
    const { scenario, kept } = running();
    scenario.crash(kept);
    scenario.exits("worker:0", { exitCode: 1 });
    scenario.completes("c1", 0);

    expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
  });
});

test("a container that this attempt asked for and that ends with 0 was not told to end: its machine is to blame", () => {
  const { scenario } = running();
  scenario.completes("c1", 0);

  expect(scenario.used).toEqual({ program: 0, infrastructure: 1 });
  expect(scenario.core.state.blame.n1).toMatchObject({ failures: 1 });
});

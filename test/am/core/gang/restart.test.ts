import { describe, expect, test } from "@jest/globals";
import { statusOf } from "../../../../am/core/status/status.ts";
import { silentAfterMs, stopWithinMs } from "../../../../src/job/silence.ts";
import type { FailureSpec, JobSpec } from "../../../../src/job/spec.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { asksOf, idleNode, Scenario, sentOf, typesOf } from "../scenario.ts";

const base = jobSpec([role("worker", 2)]);

function withFailure(change: Partial<FailureSpec>, spec: JobSpec = base): JobSpec {
  return { ...spec, failure: { ...spec.failure, ...change } };
}

describe("a program fails", () => {
  test("and the others stop, every container stays, and all start again with new ports in generation 2", () => {
    const scenario = new Scenario(base);
    scenario.toRunning();
    const containers = scenario.core.state.tasks.map(({ containerId }) => containerId);
    const effects = scenario.exits("worker:1", { exitCode: 1, traceback: "ValueError" });
    expect(sentOf(effects, "stop-child")).toEqual(["worker:0"]);
    expect(sentOf(effects, "prepare")).toEqual(["worker:1"]);
    expect(sentOf(scenario.stops("worker:0"), "prepare")).toEqual(["worker:0"]);
    scenario.ready("worker:0", { port: 41_000 });
    expect(sentOf(scenario.ready("worker:1", { port: 41_001 }), "start-child")).toEqual(["worker:0", "worker:1"]);
    expect(scenario.core.state.tasks.map(({ containerId }) => containerId)).toEqual(containers);
    expect(scenario.job).toMatchObject({
      generation: 2,
      phase: "running",
    });
    expect(scenario.used).toMatchObject({ program: 1, infrastructure: 0 });
    expect(asksOf(effects)).toEqual([]);
    expect(typesOf(scenario.effects)).not.toContain("stop-container");
  });

  test("a task that starts again has nothing of its life before but how often that was", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2, { restartPolicy: "task" })]));
    scenario.toRunning();
    const { containerId, generation } = scenario.task("worker:1");
    const checkpoint = { path: "/work/c2/step-7", step: 7, atMs: scenario.nowMs };
    const life = { task: "worker:1", containerId, generation };
    scenario.on({ type: "child-progress", ...life, step: 8, atMs: 0, metrics: { loss: 1 }, checkpoint });
    scenario.completes(containerId, -100);
    const [, status] = statusOf(scenario.core, scenario.nowMs).tasks;
    expect(status).toEqual({
      ...{ task: "worker:1", state: "waiting", restarts: 1, restartReason: "worker:1 lost its node on n2" },
    });
    scenario.allocateAll();
    expect(scenario.task("worker:1")).toMatchObject({ startedAtMs: 0, endedAtMs: 0, exit: "", checkpointStep: 0 });
  });

  test("one that starts again in its container has the time of its new life alone", () => {
    const scenario = new Scenario(base);
    scenario.toRunning();
    scenario.after(5_000);
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.stops("worker:0");
    for (const task of ["worker:0", "worker:1"]) {
      expect(scenario.task(task)).toMatchObject({ startedAtMs: 0, endedAtMs: 0, exit: "", port: 0 });
    }
  });

  test("and with its budget spent the job fails with the root cause, once everybody is accounted for", () => {
    const scenario = new Scenario(withFailure({ budgets: { program: 0, infrastructure: 5 } }));
    scenario.toRunning();
    scenario.exits("worker:1", { exitCode: 3, errorSummary: "ValueError: bad" });
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.stops("worker:0");
    expect(scenario.core.state.outcome).toMatchObject({
      result: "failed",
      summary: "worker:1 exited 3 on n2: ValueError: bad; program restarts: none allowed (tony.am.retry-count = 0)",
      cause: { class: "program", task: "worker:1", exit: "3" },
    });
  });

  test("and the first restart comes at once, the second after a pause", () => {
    const scenario = new Scenario(base);
    scenario.toRunning();
    const fail = () => {
      scenario.exits("worker:1", { exitCode: 1 });
      scenario.stops("worker:0");
      scenario.readyAll();
    };
    fail();
    expect(scenario.gang.phase).toBe("running");
    scenario.startedAll();
    fail();
    expect(scenario.gang.phase).toBe("gathering");
    const { waits } = statusOf(scenario.core, scenario.nowMs);
    expect(waits).toMatchObject([{ reasons: ["after 2 restarts: worker:1 exited 1 on n2"] }]);
    expect(sentOf(scenario.after(1_000), "start-child")).toEqual(["worker:0", "worker:1"]);
  });

  test("and the pause doubles with each further restart, up to the longest one", () => {
    const scenario = new Scenario(withFailure({ budgets: { program: 10, infrastructure: 5 } }));
    scenario.toRunning();
    const pauses = Array.from({ length: 6 }, () => {
      scenario.exits("worker:1", { exitCode: 1 });
      scenario.stops("worker:0");
      const pauseMs = scenario.gang.startNotBeforeMs - scenario.nowMs;
      scenario.readyAll();
      scenario.after(pauseMs);
      scenario.startedAll();
      return pauseMs;
    });
    expect(pauses).toEqual([0, 1_000, 2_000, 4_000, 8_000, 8_000]);
  });

  test("and each executor is told what to do, in which generation and why", () => {
    const scenario = new Scenario(base);
    scenario.toRunning();
    const why = "worker:1 exited 1 on n2";
    const effects = scenario.exits("worker:1", { exitCode: 1 });
    expect(effects).toContainEqual({
      type: "send",
      to: { task: "worker:0", containerId: "c1" },
      message: { type: "stop-child", generation: 1, graceMs: 5_000, reason: { code: "generation-ended", why } },
    });
    expect(effects).toContainEqual({
      type: "send",
      to: { task: "worker:1", containerId: "c2" },
      message: { type: "prepare", generation: 2, reason: why },
    });
  });

  test("and the restart and the start after it are told, and are in the job's history", () => {
    const scenario = new Scenario(base);
    scenario.toRunning();
    const before = scenario.effects.length;
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.stops("worker:0");
    scenario.readyAll();
    const effects = scenario.effects.slice(before);
    const about = { type: "log", fields: { generation: 2 } };
    for (const told of [
      { level: "info", event: "generation-opened", message: "Generation 2 begins." },
      {
        ...{ level: "warn", event: "generation-restart" },
        message: "Restarting as generation 2: worker:1 exited 1 on n2.",
      },
      {
        ...{ level: "info", event: "cluster-spec-sent" },
        message: "The cluster spec of generation 2 goes out to 2 tasks.",
      },
    ]) {
      expect(effects).toContainEqual({ ...about, ...told });
    }
    for (const type of ["generation-opened", "cluster-spec-sent"]) {
      expect(effects).toContainEqual({ type: "record", event: { type, generation: 2, atMs: scenario.nowMs } });
    }
  });

  test("and an executor that does not get ready within 30 s beyond its program's grace loses its container", () => {
    const scenario = new Scenario(base);
    scenario.toRunning();
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.stops("worker:0");
    scenario.ready("worker:0");
    expect(typesOf(scenario.after(34_999))).not.toContain("stop-container");
    expect(scenario.after(1)).toContainEqual({
      ...{ type: "stop-container", containerId: "c2", reason: "it did not get ready" },
    });
  });

  test("or is not heard to have started within a minute, and loses its container", () => {
    const scenario = new Scenario(base);
    scenario.register();
    scenario.allocateAll();
    scenario.readyAll();
    const { containerId, generation } = scenario.task("worker:0");
    scenario.on({ type: "child-started", task: "worker:0", containerId, generation, pid: 7, atMs: scenario.nowMs });
    expect(typesOf(scenario.after(59_999))).not.toContain("stop-container");
    expect(scenario.after(1)).toContainEqual({
      ...{ type: "stop-container", containerId: "c2", reason: "it did not start" },
    });
  });

  test("out of memory names the key to raise, its place and a value", () => {
    const scenario = new Scenario(
      withFailure({ budgets: { program: 0, infrastructure: 5 } }, jobSpec([role("worker", 1)])),
    );
    scenario.toRunning();
    scenario.completes("c1", -104, "is running beyond physical memory limits");
    expect(scenario.core.state.outcome?.cause).toMatchObject({
      summary: "worker:0 ran out of memory on n1",
      remedy: "raise tony.worker.memory (job.xml:16), e.g. to 1536m",
    });
  });

  test("a program that does not stop in time loses its container, and the others go on", () => {
    const scenario = new Scenario(base);
    scenario.toRunning();
    scenario.exits("worker:1", { exitCode: 1 });
    const effects = scenario.after(stopWithinMs(base.timeouts));
    expect(effects).toContainEqual({
      type: "stop-container",
      containerId: "c1",
      reason: "its program did not stop in time",
    });
    expect(scenario.phases()).toBe("worker:0 waiting, worker:1 preparing");
  });
});

describe("the verdict is decided when the picture is complete", () => {
  test("what was said during a pause of ours is read first, even when the pause ends as the time is up", () => {
    const scenario = new Scenario(base);
    scenario.toRunning();
    scenario.breaks("worker:1");
    scenario.exits("worker:0", { exitCode: 1, peerConnectionLost: true, errorSummary: "Connection closed by peer" });
    scenario.nowMs += base.timeouts.verdictMs;
    scenario.wakes();
    scenario.completes("c2", 137);
    expect(scenario.used).toEqual({ program: 0, infrastructure: 1 });
  });

  test("an executor that vanished during a pause of ours counts as silent before its program counts as not stopped", () => {
    const scenario = new Scenario(base);
    scenario.toRunning();
    scenario.exits("worker:0", { exitCode: 1, peerConnectionLost: true });
    scenario.nowMs += base.timeouts.stopGraceMs;
    scenario.on({ type: "paused" });
    const silentMs = silentAfterMs(base.timeouts) + 1_000;
    scenario.after(silentMs);
    expect(scenario.task("worker:1").phase).toBe("stopping");
    scenario.silent("worker:1", silentMs);
    scenario.after(1_000);
    expect(scenario.job).toMatchObject({ generation: 2 });
    expect(scenario.used).toMatchObject({ program: 0, infrastructure: 1 });
  });

  test("a peer's lost connection comes first, YARN's word on the killed executor later: no program budget is spent", () => {
    const scenario = new Scenario(base);
    scenario.toRunning();
    scenario.breaks("worker:1");
    scenario.exits("worker:0", { exitCode: 1, peerConnectionLost: true, errorSummary: "Connection closed by peer" });
    expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
    scenario.completes("c2", 137);
    expect(scenario.used).toEqual({ program: 0, infrastructure: 1 });
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({
      class: "infrastructure",
      task: "worker:1",
      generation: 1,
      consequences: ["worker:0 exited 1 on n1: Connection closed by peer, 0.0 s later (a consequence, not counted)"],
    });
  });

  test("the same with no program budget: teardown begins at once, the restart when YARN has spoken", () => {
    const scenario = new Scenario(withFailure({ budgets: { program: 0, infrastructure: 5 } }));
    scenario.toRunning();
    scenario.breaks("worker:1");
    scenario.exits("worker:0", { exitCode: 1, peerConnectionLost: true });
    expect(scenario.job).toMatchObject({ phase: "restarting", generation: 1, outcome: undefined });
    expect(asksOf(scenario.completes("c2", -102))).toMatchObject([{ role: "worker", count: 1 }]);
    expect(scenario.job).toMatchObject({ generation: 2, outcome: undefined });
  });

  test("a silent world is not waited for longer than the verdict's time", () => {
    const scenario = new Scenario(withFailure({ budgets: { program: 0, infrastructure: 0 } }));
    scenario.toRunning();
    scenario.vanishes("worker:1");
    scenario.stops("worker:0");
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.after(base.timeouts.verdictMs);
    expect(scenario.core.state.outcome?.result).toBe("failed");
  });

  test("a stream that comes back within two seconds is nothing", () => {
    const scenario = new Scenario(base);
    scenario.toRunning();
    scenario.breaks("worker:1");
    scenario.after(1_900);
    scenario.reports("worker:1", { state: "running", pid: 7, startedAtMs: scenario.nowMs });
    scenario.after(60_000);
    expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
  });
});

describe("roles", () => {
  test("a task that restarts alone does so at once after its container was lost while it stopped for its gang", () => {
    const scenario = new Scenario(base);
    scenario.toRunning();
    scenario.exits("worker:1", { exitCode: 1 });
    const effects = scenario.completes(scenario.task("worker:0").containerId, -100);
    expect(scenario.task("worker:0")).toMatchObject({ phase: "waiting", generation: 2 });
    expect(asksOf(effects)).toMatchObject([{ count: 1 }]);
    expect(scenario.gang.stopDeadline).toBeUndefined();
  });

  test("a task that restarts alone leaves the others running", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2), role("evaluator", 1, { restartPolicy: "task" })]));
    scenario.toRunning();
    const effects = scenario.exits("evaluator:0", { exitCode: 1 });
    expect(sentOf(effects, "stop-child")).toEqual([]);
    expect(sentOf(scenario.ready("evaluator:0"), "start-child")).toEqual(["evaluator:0"]);
    expect(scenario.phases()).toBe("worker:0 running, worker:1 running, evaluator:0 starting");
    expect(scenario.task("evaluator:0")).toMatchObject({
      restarts: 1,
      restartReason: "evaluator:0 exited 1 on n3",
      generation: 2,
    });
    expect(scenario.gang.generation).toBe(1);
  });

  test("that a task restarts alone is told, with why", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2, { restartPolicy: "task" })]));
    scenario.toRunning();
    expect(scenario.exits("worker:1", { exitCode: 1 })).toContainEqual(
      expect.objectContaining({
        ...{ event: "task-restart", message: "Starting worker:1 again alone: worker:1 exited 1 on n2." },
        fields: { task: "worker:1", generation: 2 },
      }),
    );
  });

  test("a task that restarts alone while its gang restarts starts when nothing of that runs any more", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2), role("ps", 1, { restartPolicy: "task" })]));
    scenario.toRunning();
    scenario.exits("ps:0", { exitCode: 1 });
    scenario.exits("worker:1", { exitCode: 1 });
    expect(sentOf(scenario.ready("ps:0"), "start-child")).toEqual([]);
    expect(scenario.task("ps:0").phase).toBe("registered");
    expect(sentOf(scenario.stops("worker:0"), "start-child")).toEqual(["ps:0"]);
  });

  test("a sidecar's failure is ignored", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1), role("tensorboard", 1, { restartPolicy: "none" })]));
    scenario.toRunning();
    scenario.exits("tensorboard:0", { exitCode: 1 });
    expect(scenario.phases()).toBe("worker:0 running, tensorboard:0 failed");
    expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
  });

  test("a role that stops the job on failure ends it whatever budget is left", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1), role("ps", 1, { stopOnFailure: true })]));
    scenario.toRunning();
    scenario.exits("ps:0", { exitCode: 1 });
    scenario.stops("worker:0");
    expect(scenario.core.state.outcome).toMatchObject({ result: "failed", cause: { task: "ps:0" } });
  });

  test("but not when its machine was at fault", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1), role("ps", 1, { stopOnFailure: true })]));
    scenario.toRunning();
    scenario.completes(scenario.task("ps:0").containerId, -102);
    scenario.stops("worker:0");
    expect(scenario.job).toMatchObject({ outcome: undefined, generation: 2 });
  });

  test("tolerated failures leave the rest running, but not the chief's", () => {
    const spec = withFailure({ onWorkerFailure: "tolerate", budgets: { program: 0, infrastructure: 5 } }, base);
    const tolerated = new Scenario(spec);
    tolerated.toRunning();
    tolerated.exits("worker:1", { exitCode: 1 });
    tolerated.exits("worker:0");
    expect(tolerated.core.state.outcome).toMatchObject({ result: "succeeded", summary: "1 of 2 tasks exited 0" });
    const chief = new Scenario(spec);
    chief.toRunning();
    chief.exits("worker:0", { exitCode: 1 });
    chief.stops("worker:1");
    expect(chief.core.state.outcome?.result).toBe("failed");
  });

  describe("a machine's failure is tolerated because no budget is left for it:", () => {
    const budgets = { program: 2, infrastructure: 0 };
    const peerLost = { exitCode: 1, peerConnectionLost: true };
    const failed = () => {
      const roles = [role("worker", 3), role("ps", 1)];
      const scenario = new Scenario(withFailure({ onWorkerFailure: "tolerate", budgets }, jobSpec(roles)));
      scenario.toRunning();
      scenario.exits("worker:2", { signal: "SIGBUS" });
      return scenario;
    };

    test("a worker that lost its connection by it is tolerated as well, and its program is not charged", () => {
      const scenario = failed();
      scenario.exits("worker:1", peerLost);
      scenario.exits("worker:0");
      expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
      expect(scenario.core.state.outcome?.summary).toBe("1 of 3 tracked tasks exited 0");
    });

    test("a task whose failure is not tolerated ends the job, with the machine's failure as the cause", () => {
      const scenario = failed();
      scenario.exits("ps:0", peerLost);
      scenario.stops("worker:0");
      scenario.stops("worker:1");
      expect(scenario.job).toMatchObject({
        outcome: { result: "failed", cause: { task: "worker:2", class: "infrastructure", exit: "SIGBUS" } },
      });
      expect(scenario.used).toMatchObject({ program: 0, infrastructure: 0 });
    });

    test("a lost connection long after it is a failure of its own", () => {
      const scenario = failed();
      scenario.after(base.timeouts.verdictMs + 1_000);
      scenario.exits("worker:1", peerLost);
      expect(scenario.job).toMatchObject({ generation: 2 });
      expect(scenario.used).toMatchObject({ program: 1 });
    });
  });
});

describe("a program finds a port taken that was held for it", () => {
  const found = { exitCode: 1, portTaken: true, errorSummary: "OSError: [Errno 98] Address already in use" };

  test("and the gang starts again in its containers with other ports, for which the program's budget does not pay", () => {
    const scenario = new Scenario(withFailure({ budgets: { program: 0, infrastructure: 1 } }));
    scenario.toRunning();
    const containers = scenario.core.state.tasks.map(({ containerId }) => containerId);
    scenario.exits("worker:1", found);
    scenario.stops("worker:0");
    scenario.readyAll();
    expect(scenario.job).toMatchObject({ generation: 2, phase: "running" });
    expect(scenario.used).toMatchObject({ program: 0, infrastructure: 1 });
    expect(scenario.core.state.tasks.map(({ containerId }) => containerId)).toEqual(containers);
    expect(scenario.core.state.blame).toEqual({});
  });

  test("and that is bounded, and the report says what may be wrong", () => {
    const scenario = new Scenario(withFailure({ budgets: { program: 5, infrastructure: 0 } }));
    scenario.toRunning();
    scenario.exits("worker:1", found);
    scenario.stops("worker:0");
    const { cause } = scenario.core.state.outcome ?? {};
    expect(cause).toMatchObject({ class: "infrastructure", reason: { code: "port-taken", error: found.errorSummary } });
    expect(cause?.remedy).toContain("tony.worker.ports");
  });

  test("and the cluster spec names the ports of each life", () => {
    const scenario = new Scenario(base);
    scenario.toRunning();
    scenario.exits("worker:1", found);
    scenario.stops("worker:0");
    scenario.ready("worker:0", { port: 41_000, ports: { rpc: 41_100 } });
    const effects = scenario.ready("worker:1", { port: 41_001, ports: { rpc: 41_101 } });
    const sent = effects.flatMap((effect) =>
      effect.type === "send" && effect.message.type === "start-child" ? [effect.message.clusterSpec.tasks] : [],
    );
    expect(sent[0]?.map(({ ports }) => ports)).toEqual([{ rpc: 41_100 }, { rpc: 41_101 }]);
    expect(statusOf(scenario.core, scenario.nowMs).tasks.map(({ ports }) => ports)).toEqual([
      { rpc: 41_100 },
      { rpc: 41_101 },
    ]);
  });
});

describe("machines are blamed for machines' failures only", () => {
  const nodes = ["a", "b", "c"].map(idleNode);

  function onThreeNodes() {
    const scenario = new Scenario(base);
    scenario.on({ type: "nodes-changed", nodes });
    scenario.register();
    const give = (...hosts: string[]) =>
      scenario.on({
        type: "containers-allocated",
        containers: hosts.map((host) => scenario.container(1, { host })),
      });
    const failTask = () => {
      scenario.readyAll();
      scenario.after(10_000);
      scenario.startedAll();
      const effects = scenario.exits("worker:0", { signal: "SIGBUS" });
      scenario.stops("worker:1");
      return effects;
    };
    give("a", "b");
    return { scenario, give, failTask };
  }

  test("SIGBUS takes the container away, a second failure excludes the node, and a third of the same task fails the job", () => {
    const { scenario, give, failTask } = onThreeNodes();
    expect(failTask()).toContainEqual(expect.objectContaining({ type: "stop-container", containerId: "c1" }));
    give("a");
    expect(failTask()).toContainEqual({ type: "blacklist", hosts: ["a"] });
    give("c");
    failTask();
    expect(scenario.core.state.outcome?.result).toBe("failed");
  });

  test("that a node is kept off is told, with how often what ran there failed", () => {
    const { scenario, give, failTask } = onThreeNodes();
    failTask();
    give("a");
    failTask();
    expect(scenario.effects).toContainEqual(
      expect.objectContaining({ message: "a is kept off for the rest of the job: 2 failures." }),
    );
  });

  test("what turns out to be no machine's fault is taken back, and no more than that", () => {
    const scenario = new Scenario({
      ...base,
      failure: {
        ...base.failure,
        budgets: { program: 9, infrastructure: 9 },
        blame: { container: 1, node: 9, job: 9 },
      },
    });
    scenario.toRunning();
    scenario.exits("worker:0", { signal: "SIGBUS" });
    scenario.stops("worker:1");
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1, { host: "n1" })] });
    scenario.readyAll();
    scenario.after(10_000);
    scenario.startedAll();
    const { containerId } = scenario.task("worker:0");
    scenario.vanishes("worker:0");
    expect(scenario.task("worker:0").machineFailures).toBe(2);
    expect(scenario.core.state.blame.n1?.failures).toBe(2);
    scenario.completes(containerId, -102);
    expect(scenario.task("worker:0").machineFailures).toBe(1);
    expect(scenario.core.state.blame.n1?.failures).toBe(1);
  });

  test("a node that is already excluded and leaves the cluster is named once", () => {
    const { scenario, give, failTask } = onThreeNodes();
    failTask();
    give("a");
    failTask();
    const node = { ...idleNode("a"), usable: false, decommissioning: {} };
    expect(scenario.on({ type: "nodes-changed", nodes: [node] })).toContainEqual({ type: "blacklist", hosts: ["a"] });
  });

  test("an excluded node is used again when so many others have gone that it is more than a third of the rest", () => {
    const { scenario, give, failTask } = onThreeNodes();
    failTask();
    give("a");
    failTask();
    expect(scenario.core.state.blame.a).toEqual({ failures: 2, excluded: true });
    const effects = scenario.on({ type: "nodes-changed", nodes: [{ ...idleNode("c"), usable: false }] });
    expect(effects).toContainEqual({ type: "blacklist", hosts: [] });
    expect(scenario.core.state.blame.a).toEqual({ failures: 2, excluded: false });
  });

  test("of several excluded nodes the one that failed least is used again", () => {
    const failure = {
      ...base.failure,
      budgets: { program: 9, infrastructure: 20 },
      blame: { container: 9, node: 2, job: 20 },
    };
    const scenario = new Scenario({ ...base, failure, roles: [role("worker", 3)] });
    const hosts = ["a", "b", "c", "d", "e", "f"];
    scenario.on({ type: "nodes-changed", nodes: hosts.map((host) => idleNode(host)) });
    scenario.register();
    const failTogetherOn = (host: string, count: number) => {
      const containers = Array.from({ length: count }, () => scenario.container(1, { host }));
      scenario.on({ type: "containers-allocated", containers });
      for (const { containerId } of containers) scenario.completes(containerId, -101);
    };
    failTogetherOn("a", 3);
    failTogetherOn("b", 2);
    const excluded = { a: { failures: 3, excluded: true }, b: { failures: 2, excluded: true } };
    expect(scenario.core.state.blame).toEqual(excluded);
    scenario.on({ type: "nodes-changed", nodes: [{ ...idleNode("f"), usable: false }] });
    expect(scenario.core.state.blame).toEqual({ ...excluded, b: { failures: 2, excluded: false } });
  });

  test("no node is excluded without which the gang has no room, and an excluded one is used again when the others shrink", () => {
    const sized = (memoryMiB: number) =>
      nodes.map((node) => ({ ...node, total: { memoryMiB, vcores: 8, others: {} } }));
    const failure = {
      ...base.failure,
      budgets: { program: 9, infrastructure: 9 },
      blame: { container: 9, node: 2, job: 9 },
    };
    const scenario = new Scenario({ ...base, failure, roles: [role("worker", 3)] });
    const { memoryMiB } = role("worker", 3).resource;
    scenario.on({ type: "nodes-changed", nodes: sized(memoryMiB) });
    scenario.register();
    const failOn = (host: string) => {
      scenario.on({ type: "containers-allocated", containers: [scenario.container(1, { host })] });
      return scenario.completes(scenario.task("worker:0").containerId, -101);
    };
    failOn("a");
    failOn("a");
    expect(scenario.core.state.blame.a).toEqual({ failures: 2, excluded: false });
    scenario.on({ type: "nodes-changed", nodes: sized(2 * memoryMiB) });
    expect(failOn("a")).toContainEqual({ type: "blacklist", hosts: ["a"] });
    expect(scenario.on({ type: "nodes-changed", nodes: sized(memoryMiB) })).toContainEqual({
      type: "blacklist",
      hosts: [],
    });
  });

  test("a failure after ten minutes of healthy running starts the count anew, for the task and for its node", () => {
    const scenario = new Scenario(base);
    scenario.on({ type: "nodes-changed", nodes });
    scenario.register();
    const on = (host: string) => scenario.container(1, { host });
    scenario.on({ type: "containers-allocated", containers: [on("a"), on("b")] });
    for (let failure = 0; failure < 4; failure++) {
      scenario.readyAll();
      scenario.after(10_000);
      scenario.startedAll();
      scenario.after(600_000);
      scenario.exits("worker:0", { signal: "SIGBUS" });
      scenario.stops("worker:1");
      scenario.on({ type: "containers-allocated", containers: [on("a")] });
    }
    expect(scenario.core.state.outcome).toBeUndefined();
    expect(scenario.core.state.blame).toEqual({ a: { failures: 1, excluded: false } });
  });

  test("no node is excluded when that would leave a role less than two thirds of its nodes", () => {
    const labelled = nodes.map((node, index) => ({ ...node, labels: index < 2 ? ["gpu"] : [] }));
    const scenario = new Scenario({ ...base, roles: [role("worker", 2, { nodeLabel: "gpu" })] });
    scenario.on({ type: "nodes-changed", nodes: labelled });
    scenario.register();
    for (let failure = 0; failure < 2; failure++) {
      scenario.on({ type: "containers-allocated", containers: [scenario.container(1, { host: "a" })] });
      scenario.completes(scenario.task("worker:0").containerId, -101);
    }
    expect(scenario.core.state.blame).toEqual({ a: { failures: 2, excluded: false } });
  });

  test("two executors of a node vanish because their containers are preempted, and the node is used again when YARN reports that", () => {
    const scenario = new Scenario(base);
    scenario.on({ type: "nodes-changed", nodes });
    scenario.register();
    const given = [scenario.container(1, { host: "a" }), scenario.container(1, { host: "a" })];
    scenario.on({ type: "containers-allocated", containers: given });
    scenario.readyAll();
    scenario.startedAll();
    scenario.breaks("worker:0");
    scenario.breaks("worker:1");
    scenario.after(base.timeouts.massSilenceMs);
    expect(scenario.core.state.blame).toEqual({ a: { failures: 2, excluded: true } });
    const effects = given.flatMap(({ containerId }) => scenario.completes(containerId, -102));
    expect(effects).toContainEqual({ type: "blacklist", hosts: [] });
    expect(scenario.core.state.blame).toEqual({ a: { failures: 0, excluded: false } });
  });

  test("a sidecar's executor vanishes because it ran out of memory, for which no verdict waits: its node is not at fault", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1), role("tensorboard", 1, { restartPolicy: "none" })]));
    scenario.toRunning();
    const { containerId, host } = scenario.task("tensorboard:0");
    scenario.breaks("tensorboard:0");
    scenario.after(2_000);
    expect(scenario.core.state.blame[host]).toEqual({ failures: 1, excluded: false });
    scenario.completes(containerId, -104);
    expect(scenario.core.state.blame[host]).toEqual({ failures: 0, excluded: false });
  });

  test("a program's own failure blames no machine", () => {
    const scenario = new Scenario(base);
    scenario.toRunning();
    scenario.exits("worker:0", { exitCode: 1 });
    expect(scenario.core.state.blame).toEqual({});
  });
});

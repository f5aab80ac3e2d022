import { describe, expect, test } from "@jest/globals";
import { statusOf } from "../../../am/core/status/status.ts";
import { describeJob, milestones, successDetails } from "../../../client/output/progress.ts";
import { searchRun } from "../../../src/job/build/search-run.ts";
import { endingWords } from "../../../src/job/reasons/endings.ts";
import type { Cause, JobState, JobStatus, SearchStatus, TaskStatus } from "../../../src/job/status.ts";
import { Scenario } from "../../am/core/scenario.ts";
import { searchOf } from "../../job/search/support.ts";
import { jobSpec, role as roleOf } from "../../simulation/job.ts";
import { aJobStatus, allSucceeded, noonishMs, outOfMemory, role } from "../job-status.ts";

describe("the way of a job, told from one state to the next", () => {
  test("a role is told when all of it is allocated, and when all of it runs", () => {
    const gathering = aJobStatus({ roles: [{ ...role("worker", 2), allocated: 1, registered: 0 }] });
    const allocated = aJobStatus({ roles: [{ ...role("worker", 2), registered: 0 }] });
    const running = aJobStatus({ roles: [{ ...role("worker", 2), running: 2 }] });
    expect(milestones(undefined, gathering)).toEqual([]);
    expect(milestones(gathering, allocated)).toEqual([
      { what: "worker 2/2 allocated", details: "worker:0 127.0.0.11 · worker:1 127.0.0.12" },
    ]);
    expect(milestones(allocated, running)).toEqual([{ what: "worker 2/2 running", details: "cluster spec sent" }]);
    expect(milestones(running, running)).toEqual([]);
  });

  test.each([
    [4, "worker:0 n0 · worker:1 n1 · worker:2 n2 · worker:3 n3"],
    [5, "worker:0 n0 · worker:1 n1 · worker:2 n2 · worker:3 n3 · and 1 more"],
    [6, "worker:0 n0 · worker:1 n1 · worker:2 n2 · worker:3 n3 · and 2 more"],
  ])("of a role of %s tasks it is told where the first four are", (instances, details) => {
    const tasks = Array.from({ length: instances }, (_, index): TaskStatus => {
      return { task: `worker:${index}`, state: "allocated", host: `n${index}`, restarts: 0 };
    });
    const allocated = aJobStatus({ roles: [{ ...role("worker", instances), registered: 0 }], tasks });
    expect(milestones(undefined, allocated)).toEqual([{ what: `worker ${instances}/${instances} allocated`, details }]);
  });

  test("a task of which nobody knows where it is has no place", () => {
    const tasks: readonly TaskStatus[] = [{ task: "worker:0", state: "allocated", restarts: 0 }];
    const allocated = aJobStatus({ roles: [{ ...role("worker", 1), registered: 0 }], tasks });
    expect(milestones(undefined, allocated)).toEqual([{ what: "worker 1/1 allocated", details: "worker:0 –" }]);
  });

  describe("of a search", () => {
    const search = { metric: "loss", direction: "minimize", parameters: [], command: "" } as const;
    const task = (changes: Partial<TaskStatus>): TaskStatus => {
      return { task: "worker:2", state: "running", restarts: 0, trial: { state: "running" }, ...changes };
    };
    const told = (before: TaskStatus, after: TaskStatus, given: SearchStatus = search) => {
      const status = (one: TaskStatus) =>
        aJobStatus({ roles: [role("worker", 12)], tasks: [one], search: given, generation: 4 });
      return milestones(status(before), status(after));
    };
    const why = "worker:2 exited 1 on n1: ValueError: no lr";

    test("are trials that start again, and those that have failed", () => {
      expect(told(task({}), task({ restarts: 1, restartReason: why }))).toEqual([
        { what: "trial 2 started again", details: "exited 1 on n1: ValueError: no lr" },
      ]);
      expect(told(task({}), task({ state: "failed", exit: "1", trial: { state: "failed", why } }))).toEqual([
        { what: "trial 2 failed", details: "exited 1 on n1: ValueError: no lr" },
      ]);
      const lost = task({ restarts: 1, restartReason: "node n1 was lost" });
      expect(told(task({}), lost)).toEqual([{ what: "trial 2 started again", details: "node n1 was lost" }]);
    });

    test("run on while another attempt of the AM takes over", () => {
      const before = aJobStatus({ search, tasks: [] });
      expect(milestones(before, { ...before, attempt: 2 })).toEqual([
        { what: "AM restarted on 127.0.0.12", details: "attempt 2; the trials run on" },
      ]);
    });

    test("name the task that ended a trial of several", () => {
      const ofTwo = { ...search, trials: 6 };
      expect(told(task({}), task({ restarts: 1, restartReason: why.replace(":2", ":3") }), ofTwo)).toEqual([
        { what: "trial 1 started again", details: "worker:1 exited 1 on n1: ValueError: no lr" },
      ]);
    });

    test("are what turns out of trials that started again: why they had ended", () => {
      const again = task({
        restarts: 1,
        restartReason: "the executor of worker:2 on n1 ended, and YARN has not said why",
      });
      const known = { ...again, restartReason: "worker:2 ran out of memory on n1" };
      expect(told(again, known)).toEqual([{ what: "trial 2 had ended because:", details: "ran out of memory on n1" }]);
      expect(told(known, known)).toEqual([]);
    });

    test("are corrected for as long as they are in the same life, which begins anew after a rung", () => {
      const [early, known] = ["YARN has not said why", "worker:2 ran out of memory on n1"];
      const again = (changes: Partial<TaskStatus>) => task({ restarts: 1, restartReason: early, ...changes });
      const corrected = [{ what: "trial 2 had ended because:", details: "ran out of memory on n1" }];
      const [at, later] = [{ startedAtMs: noonishMs }, { startedAtMs: noonishMs + 1_000 }];
      expect(told(again(at), again({ ...at, restartReason: known }))).toEqual(corrected);
      expect(told(again({}), again({ ...at, restartReason: known }))).toEqual(corrected);
      expect(told(again(at), again({ ...later, restartReason: known }))).toEqual([]);
      const paused = { trial: { state: "paused", checkpoint: "c" } } as const;
      const saved = { trial: { state: "running", checkpoint: "c" } } as const;
      expect(told(again({ ...at, ...paused }), again({ ...at, ...saved, restartReason: known }))).toEqual([]);
      expect(told(task(at), task({ ...at, restartReason: known }))).toEqual([]);
    });

    test("are trials that go on after a rung without a checkpoint, and start over", () => {
      expect(told(task({ trial: { state: "paused" } }), task({ restartReason: "it is among the best" }))).toEqual([
        { what: "trial 2 goes on without a checkpoint:", details: "it starts over" },
      ]);
      expect(told(task({ trial: { state: "paused" } }), task({ trial: { state: "completed" } }))).toEqual([]);
    });

    test("are no trials that go on after a rung, nor tasks of a trial that starts again", () => {
      const saved = { checkpoint: "hdfs:///c/2" };
      const goesOn = task({ restartReason: "it is among the best", trial: { state: "running", ...saved } });
      expect(told(task({ trial: { state: "paused", ...saved } }), goesOn)).toEqual([]);
      expect(told(task({}), task({ state: "lost" }))).toEqual([]);
    });
  });

  test("the roles of a search are not, which has trials", () => {
    const roles = [{ ...role("worker", 2), running: 2 }];
    const search = { metric: "loss", direction: "minimize", parameters: [], command: "" } as const;
    expect(milestones(undefined, aJobStatus({ roles, search }))).toEqual([]);
  });

  test("no cluster spec is sent where programs start by themselves, nor to one in the AM's container", () => {
    const roles = [{ ...role("worker", 2), running: 2 }];
    expect(milestones(undefined, aJobStatus({ roles, distributedMode: "fcfs" }))).toEqual([
      { what: "worker 2/2 running", details: "" },
    ]);
    const driver = {
      task: "driver:0",
      state: "running",
      containerId: "container_1_0001_01_000001",
      startedAtMs: noonishMs,
      restarts: 0,
    } as const;
    const alone = aJobStatus({
      amContainerId: driver.containerId,
      roles: [{ ...role("driver", 1), running: 1 }],
      tasks: [driver],
    });
    expect(milestones(undefined, alone)).toEqual([{ what: "driver 1/1 running", details: "" }]);
  });

  test("a program whose container was lost before its start has not run", () => {
    const lost = [0, 1].map((index) => ({ task: `worker:${index}`, state: "lost", restarts: 0 }) as const);
    const ended = aJobStatus({ roles: [{ ...role("worker", 2), ended: 2 }], tasks: lost });
    expect(milestones(undefined, ended)).toEqual([]);
  });

  test("a generation that ends before all of its programs have started has not run", () => {
    const spec = jobSpec([roleOf("worker", 3)]);
    const budgets = { program: 0, infrastructure: 0 };
    const scenario = new Scenario({ ...spec, failure: { ...spec.failure, budgets } });
    const status = () => statusOf(scenario.core, scenario.nowMs);
    scenario.register();
    scenario.allocateAll();
    const before = status();
    scenario.readyAll();
    const { containerId, generation } = scenario.task("worker:0");
    scenario.on({ type: "child-started", task: "worker:0", containerId, generation, pid: 7, atMs: scenario.nowMs });
    scenario.exits("worker:0", { exitCode: 1 });
    const after = status();
    expect(after.roles).toMatchObject([{ running: 2, ended: 1 }]);
    expect(milestones(before, after)).toEqual([]);
  });

  test("nor has one that is given up while it gathers: the job's end shows the programs of the one before", () => {
    const spec = jobSpec([roleOf("worker", 2)]);
    const budgets = { program: 0, infrastructure: 1 };
    const scenario = new Scenario({ ...spec, failure: { ...spec.failure, budgets } });
    const status = () => statusOf(scenario.core, scenario.nowMs);
    scenario.toRunning();
    scenario.after(1_000);
    scenario.exits("worker:1", { signal: "SIGTERM", stopReason: { code: "container-terminated" } });
    scenario.on({ type: "executor-lost", task: "worker:1", containerId: "c2", cause: "goodbye" });
    scenario.stops("worker:0");
    const gathering = status();
    expect(gathering.generation).toBe(2);
    scenario.completes("c2", -103);
    scenario.after(1_000);
    const over = status();
    expect(over).toMatchObject({ outcome: { result: "failed" }, roles: [{ running: 0 }] });
    expect(milestones(gathering, over).map(({ what }) => what)).toEqual(["generation 1 ended because:"]);
  });

  test("a program that ended before it was seen running has run", () => {
    const ended = aJobStatus({ roles: [{ ...role("worker", 2), running: 1, ended: 1 }] });
    expect(milestones(undefined, ended).map(({ what }) => what)).toEqual(["worker 2/2 running"]);
  });

  test("a program that was stopped before its start has not run", () => {
    const tasks = [{ task: "worker:0", state: "stopped" as const, restarts: 0 }];
    const killed = aJobStatus({ roles: [{ ...role("worker", 1), ended: 1 }], tasks });
    const waited = aJobStatus({ roles: [{ ...role("worker", 1), allocated: 0, registered: 0 }], tasks: [] });
    expect(milestones(waited, killed)).toEqual([]);
  });

  test("a new generation says what ended the one before and what that cost", () => {
    const next = aJobStatus({
      generation: 2,
      roles: [],
      budgets: { program: { used: 1, limit: 2 }, infrastructure: { used: 0, limit: 10 } },
      generations: [
        { generation: 1, startedAtMs: noonishMs, endedBy: outOfMemory() },
        { generation: 2, startedAtMs: noonishMs },
      ],
    });
    expect(milestones(aJobStatus(), next)).toEqual([
      {
        what: "restarting (generation 2):",
        details: "worker:1 ran out of memory on 127.0.0.12 · program restarts: 1 of 2 used",
      },
    ]);
  });

  test("a cause that was told is put right when stronger evidence comes", () => {
    const endedBy = (summary: string) =>
      aJobStatus({
        generation: 2,
        roles: [],
        budgets: { program: { used: 1, limit: 2 }, infrastructure: { used: 0, limit: 10 } },
        generations: [
          { generation: 1, startedAtMs: noonishMs, endedBy: outOfMemory({ summary }) },
          { generation: 2, startedAtMs: noonishMs },
        ],
      });
    const victim = endedBy("worker:0 exited 1: connection reset");
    expect(milestones(victim, endedBy("worker:1 exited 3"))).toEqual([
      { what: "generation 1, cause corrected:", details: "worker:1 exited 3 · program restarts: 1 of 2 used" },
    ]);
    expect(milestones(victim, victim)).toEqual([]);
  });

  test("what YARN has not explained yet is told without what it costs; its cause follows, as no correction", () => {
    const causedBy = (endedBy: Cause, generation = 2) =>
      aJobStatus({
        generation,
        roles: [],
        budgets: { program: { used: 1, limit: 2 }, infrastructure: { used: 0, limit: 10 } },
        generations: [
          { generation: 1, startedAtMs: noonishMs, endedBy },
          { generation: 2, startedAtMs: noonishMs },
        ],
      });
    const at = { task: "worker:1", host: "127.0.0.12" } as const;
    const signalled = { code: "program-signalled", ...at, signal: "SIGTERM", awaited: true } as const;
    const killed = outOfMemory({ reason: signalled, summary: endingWords(signalled) });
    expect(milestones(aJobStatus(), causedBy(killed))).toEqual([
      {
        what: "generation 1 ended:",
        details: "worker:1 was ended by SIGTERM on 127.0.0.12; YARN may yet say why",
      },
    ]);
    const reason = { code: "told-to-end", ...at } as const;
    const unknown = outOfMemory({ class: "infrastructure", reason, summary: endingWords(reason) });
    expect(milestones(aJobStatus(), causedBy(unknown))).toEqual([
      { what: "generation 1 ended:", details: endingWords(reason) },
    ]);
    const details = "worker:1 ran out of memory on 127.0.0.12 · program restarts: 1 of 2 used";
    const explained = (state: JobState) => milestones(causedBy(unknown), { ...causedBy(outOfMemory()), state });
    expect(explained("restarting")).toEqual([{ what: "restarting (generation 2):", details }]);
    expect(explained("gathering")).toEqual([{ what: "restarting (generation 2):", details }]);
    expect(explained("running")).toEqual([{ what: "generation 1 ended because:", details }]);
    expect(explained("finishing")).toEqual([{ what: "generation 1 ended because:", details }]);
    const over = {
      ...causedBy(outOfMemory()),
      state: "restarting",
      outcome: { ...allSucceeded, endedAtMs: 1 },
    } as const;
    expect(milestones(causedBy(unknown), over)).toEqual([{ what: "generation 1 ended because:", details }]);
    expect(milestones(causedBy(unknown), causedBy(killed))).toEqual([
      { what: "generation 1 ended:", details: endingWords(signalled) },
    ]);
    const settled = outOfMemory({ reason: { ...signalled, awaited: false } });
    expect(milestones(aJobStatus(), causedBy(settled))).toEqual([{ what: "restarting (generation 2):", details }]);
  });

  test("no restart is told of what allows none: the job is over in a moment", () => {
    const budgets = { program: { used: 0, limit: 0 }, infrastructure: { used: 0, limit: 10 } };
    const causedBy = (endedBy: Cause) =>
      aJobStatus({
        generation: 2,
        state: "restarting",
        roles: [],
        budgets,
        generations: [
          { generation: 1, startedAtMs: noonishMs, endedBy },
          { generation: 2, startedAtMs: noonishMs },
        ],
      });
    const reason = { code: "told-to-end", task: "worker:1", host: "127.0.0.12" } as const;
    const unknown = outOfMemory({ class: "infrastructure", reason, summary: endingWords(reason) });
    const once = { ...causedBy(outOfMemory()), budgets: { ...budgets, program: { used: 1, limit: 1 } } };
    expect(milestones(aJobStatus(), once).map(({ what }) => what)).toEqual(["restarting (generation 2):"]);
    for (const before of [aJobStatus(), causedBy(unknown)]) {
      expect(milestones(before, causedBy(outOfMemory()))).toEqual([
        {
          what: "generation 1 ended because:",
          details: "worker:1 ran out of memory on 127.0.0.12 · program restarts: none allowed",
        },
      ]);
    }
  });

  test("a cause that was not told yet is told once, as it turns out to be", () => {
    const causedBy = (summary: string, ...later: readonly number[]) =>
      aJobStatus({
        generation: 1 + later.length,
        roles: [],
        generations: [
          { generation: 1, startedAtMs: noonishMs, endedBy: outOfMemory({ summary }) },
          ...later.map((generation) => ({ generation, startedAtMs: noonishMs })),
        ],
      });
    const open = causedBy("worker:0 exited 1: connection reset");
    expect(milestones(open, causedBy("worker:1 was silent"))).toEqual([]);
    expect(milestones(open, causedBy("worker:1 was silent", 2)).map(({ what }) => what)).toEqual([
      "restarting (generation 2):",
    ]);
  });

  test("where a generation resumes from is told of that one, and not of one that began anew after it", () => {
    const checkpoint = { path: "hdfs:///ckpt/step-600", step: 600, atMs: noonishMs };
    const runningFrom = (...resumed: readonly boolean[]) => {
      const generations = resumed.map((from, index) => ({
        ...{ generation: index + 1, startedAtMs: noonishMs + index },
        ...(from && { resumedFrom: checkpoint }),
      }));
      const status = { generation: resumed.length, generations };
      const [told] = milestones(
        aJobStatus({ ...status, roles: [role("worker", 2)] }),
        aJobStatus({ ...status, roles: [{ ...role("worker", 2), running: 2 }] }),
      );
      return told?.details;
    };
    expect(runningFrom(false, true)).toBe("cluster spec sent · resumes from step 600");
    expect(runningFrom(false, true, false)).toBe("cluster spec sent");
  });

  test("the first generation of a later stage is no restart", () => {
    const generations = [
      { generation: 1, startedAtMs: noonishMs, roles: ["prep"] },
      { generation: 2, startedAtMs: noonishMs, roles: ["worker", "ps"] },
    ];
    const next = aJobStatus({ generation: 2, roles: [], generations });
    expect(milestones(aJobStatus(), next)).toEqual([{ what: "stage of worker, ps begins", details: "generation 2" }]);
    expect(successDetails(next, { summary: "3 of 3 tasks exited 0" })).toContain(" · 0 restarts · ");
    // What the stage before came to at the last is told first.
    const tasks = [{ task: "prep:0", state: "succeeded" as const, startedAtMs: noonishMs, restarts: 0 }];
    const quick = aJobStatus({ ...next, roles: [{ ...role("prep", 1), ended: 1 }], tasks });
    const gathering = aJobStatus({ roles: [{ ...role("prep", 1), registered: 0 }] });
    expect(milestones(gathering, quick).map(({ what }) => what)).toEqual([
      "prep 1/1 running",
      "stage of worker, ps begins",
    ]);
    expect(milestones(next, next)).toEqual([]);
    // A stage whose containers are there at once has them told behind its beginning.
    const atOnce = aJobStatus({ ...next, roles: [{ ...role("worker", 2), registered: 0 }] });
    expect(milestones(gathering, atOnce).map(({ what }) => what)).toEqual([
      "stage of worker, ps begins",
      "worker 2/2 allocated",
    ]);
    const again = { generation: 3, startedAtMs: noonishMs, roles: ["worker", "ps"] };
    const restarted = aJobStatus({ generation: 3, roles: [], generations: [...generations, again] });
    expect(milestones(next, restarted).map(({ what }) => what)).toEqual(["restarting (generation 3):"]);
    expect(successDetails(restarted, { summary: "3 of 3 tasks exited 0" })).toContain(" · 1 restart · ");
  });

  test("a restart in kept containers tells when its programs run; a container that came anew is told too", () => {
    const running = aJobStatus({ roles: [{ ...role("worker", 2), running: 2 }] });
    const next = (changes: Partial<JobStatus["roles"][number]>) =>
      aJobStatus({ generation: 2, roles: [{ ...role("worker", 2), ...changes }] });
    const what = (before: JobStatus, after: JobStatus) => milestones(before, after).map((one) => one.what);
    expect(what(running, next({ registered: 0 }))).toEqual(["restarting (generation 2):"]);
    expect(milestones(running, next({ registered: 0 }))[0]?.details).toBe("restarted");
    expect(what(next({ registered: 0 }), next({ running: 2 }))).toEqual(["worker 2/2 running"]);
    expect(what(running, next({ allocated: 1, registered: 0 }))).toEqual(["restarting (generation 2):"]);
    expect(what(next({ allocated: 1, registered: 0 }), next({ registered: 0 }))).toEqual(["worker 2/2 allocated"]);
  });

  test("programs that are being stopped for a new generation, or run on beside it, are no news; those it starts are", () => {
    const running = aJobStatus();
    const stopping = aJobStatus({ generation: 2, state: "restarting" });
    const startedAgain = aJobStatus({
      generation: 2,
      tasks: running.tasks.map((task) =>
        task.task.startsWith("worker") ? { ...task, startedAtMs: noonishMs + 50_000 } : task,
      ),
    });
    const what = (before: JobStatus, after: JobStatus) => milestones(before, after).map((one) => one.what);
    expect(what(running, stopping)).toEqual(["restarting (generation 2):"]);
    expect(what(stopping, startedAgain)).toEqual(["worker 2/2 running"]);
    const unheard = aJobStatus({
      tasks: running.tasks.map(({ startedAtMs: _, ...task }) => ({ ...task, state: "succeeded" })),
    });
    expect(what(running, unheard)).toEqual([]);
  });

  test("programs of which one has begun again are told to run when all of them do", () => {
    const [first, ...others] = aJobStatus().tasks;
    if (first === undefined) throw new Error("a task");
    const again = (running: number) =>
      aJobStatus({
        roles: [{ ...role("worker", 2), running }],
        tasks: [{ ...first, startedAtMs: noonishMs + 50_000 }, ...others],
      });
    expect(milestones(aJobStatus(), again(1))).toEqual([]);
    expect(milestones(aJobStatus(), again(2)).map(({ what }) => what)).toEqual(["worker 2/2 running"]);
  });

  test("programs that have run on since an earlier generation are told to who comes later", () => {
    const generations = [1, 2].map((generation) => ({ generation, startedAtMs: noonishMs + generation * 10_000 }));
    const what = milestones(undefined, aJobStatus({ generation: 2, generations })).map((one) => one.what);
    expect(what).toEqual(["worker 2/2 running", "ps 1/1 running"]);
  });

  test("a role is not told to be there when one of its tasks ended before its program was started", () => {
    const [first, second] = aJobStatus().tasks.map(({ startedAtMs: _, ...task }) => task);
    if (first === undefined || second === undefined) throw new Error("two tasks");
    for (const state of ["stopped", "lost", "failed"] as const) {
      const roles = [{ ...role("worker", 2), ended: 1 }];
      expect(milestones(undefined, aJobStatus({ roles, tasks: [first, { ...second, state }] }))).toEqual([]);
    }
  });

  test("a program that runs in the AM's container gets no cluster spec, those elsewhere do", () => {
    const details = (containerId: string) => {
      const tasks = aJobStatus().tasks.map((task) => ({ ...task, containerId }));
      return milestones(undefined, aJobStatus({ amContainerId: "c1", tasks }))[0]?.details;
    };
    expect([details("c1"), details("c2")]).toEqual(["", "cluster spec sent"]);
  });

  test("a task that failed, or was started again, while the others go on", () => {
    const [first, second] = aJobStatus().tasks;
    if (first === undefined || second === undefined) throw new Error("two tasks");
    const failed = aJobStatus({ tasks: [first, { ...second, state: "failed", exit: "1" }] });
    expect(milestones(aJobStatus(), failed)).toEqual([
      { what: `${second.task} failed`, details: `exit 1 on ${second.host}; the others go on` },
    ]);
    expect(milestones(failed, failed)).toEqual([]);
    const { host: _, ...nowhere } = second;
    expect(milestones(aJobStatus(), aJobStatus({ tasks: [first, { ...nowhere, state: "lost" }] }))).toEqual([
      { what: `${second.task} failed`, details: "exit lost on –; the others go on" },
    ]);
    expect(milestones(aJobStatus(), { ...failed, generation: 2 }).map(({ what }) => what)).toEqual([
      "restarting (generation 2):",
    ]);
    const restartReason = "worker:1 exited 1 on 127.0.0.12: ValueError";
    const again = aJobStatus({ tasks: [first, { ...second, state: "launched", restarts: 1, restartReason }] });
    expect(milestones(failed, again)).toEqual([{ what: `${second.task} started again`, details: restartReason }]);
    const known = "worker:1 ran out of memory on 127.0.0.12";
    const explained = aJobStatus({
      tasks: [first, { ...second, state: "launched", restarts: 1, restartReason: known }],
    });
    expect(milestones(again, explained)).toEqual([{ what: `${second.task} had ended because:`, details: known }]);
    expect(milestones(explained, explained)).toEqual([]);
    // An attempt of the AM that took over knows of fewer, where the last one was not in its journal yet.
    expect(milestones(explained, aJobStatus({ attempt: 2 })).map(({ what }) => what)).toEqual([
      "AM restarted on 127.0.0.12",
    ]);
  });

  test("a job that uses nothing is told of once each time, with what shows why", () => {
    const idle = { tasks: ["worker:0", "worker:1", "ps:0"], sinceMs: 0, untilMs: 600_000, cpuMs: 310, gpus: 2 };
    const still = aJobStatus({ idle });
    const words = "worker:0, worker:1, ps:0 used 0.4 s of CPU in 10 min, and their GPUs were at 0% in every sample";
    expect(milestones(aJobStatus(), still)).toEqual([
      { what: "the job is idle:", details: `${words} → tony-ts stacks ${still.applicationId}` },
    ]);
    expect(milestones(still, aJobStatus({ idle: { ...idle, untilMs: 900_000 } }))).toEqual([]);
    expect(milestones(still, aJobStatus())).toEqual([]);
  });

  test("a split that is left out, and a feed that is read, are told once, also by the next attempt of the AM", () => {
    const counts = { splits: 4, used: 1, triedAgain: 0, readers: [] };
    const reading = aJobStatus({
      feeds: [{ name: "train", epoch: 0, epochs: 1, ...counts, leftOut: 0, failures: [] }],
    });
    const failures = [{ split: 3, path: "hdfs://nn/a.gz", start: 0, end: 20, reason: "it is damaged" }];
    const read = aJobStatus({ feeds: [{ name: "train", epoch: 1, epochs: 1, ...counts, leftOut: 1, failures }] });
    expect(milestones(reading, read)).toEqual([
      { what: "feed train leaves out split 3:", details: "hdfs://nn/a.gz: it is damaged" },
      { what: "feed train is read", details: "" },
    ]);
    expect(milestones(read, read)).toEqual([]);
    // Who comes later is told what is left out, and not that the feed was read long before.
    expect(milestones(undefined, { ...read, roles: [] }).map(({ what }) => what)).toEqual([
      "feed train leaves out split 3:",
    ]);
    expect(milestones({ ...reading, attempt: 2 }, { ...read, attempt: 2 }, read)).toEqual([]);
    const epoch = (number: number) =>
      aJobStatus({ feeds: [{ name: "train", epoch: number, epochs: 2, ...counts, leftOut: 0, failures: [] }] });
    expect(milestones(epoch(0), epoch(1))).toEqual([]);
    expect(milestones(epoch(1), epoch(2)).map(({ what }) => what)).toEqual(["feed train is read"]);
    expect(successDetails(read, { summary: "all" })).toContain("all · feed train: 1 of 4 splits was left out · ");
  });

  test("a new attempt of the AM and a TensorBoard are told once", () => {
    const services = [{ name: "tensorboard", url: "http://127.0.0.11:41877", task: "worker:0" }];
    const next = aJobStatus({ attempt: 2, services });
    expect(milestones(aJobStatus(), next)).toEqual([
      { what: "AM restarted on 127.0.0.12", details: "attempt 2; the tasks run on" },
      { what: "TensorBoard", details: "http://127.0.0.11:41877" },
    ]);
    expect(milestones(next, next)).toEqual([]);
  });

  test("a TensorBoard that listens elsewhere after a restart is told again, beside what is known", () => {
    const board = { name: "tensorboard", url: "http://127.0.0.11:41877", task: "worker:0" };
    const notebook = { name: "notebook", url: "http://127.0.0.11:8888", task: "worker:0" };
    const moved = { ...board, url: "http://127.0.0.12:40001" };
    const before = aJobStatus({ services: [board, notebook] });
    expect(milestones(before, aJobStatus({ services: [moved, notebook] }))).toEqual([
      { what: "TensorBoard", details: moved.url },
    ]);
  });

  test("programs that a new attempt of the AM hears of again are no news, others are", () => {
    const earlier = aJobStatus();
    const next = (changes: Partial<JobStatus>) => aJobStatus({ attempt: 2, ...changes });
    const hearing = next({ roles: [{ ...role("worker", 2), running: 1 }] });
    expect(milestones(hearing, next({}), earlier)).toEqual([]);
    const tasks = earlier.tasks.map((task) => ({ ...task, startedAtMs: noonishMs + 50_000 }));
    expect(milestones(hearing, next({ tasks }), earlier).map(({ what }) => what)).toContain("worker 2/2 running");
  });

  test("success has the outcome's own words, restarts and what was used", () => {
    const tasks = [{ task: "worker:0", state: "succeeded" as const, restarts: 0 }];
    const usage = { memoryMiBSeconds: 25_805, vcoreSeconds: 25 };
    expect(successDetails(aJobStatus({ tasks, usage }), { summary: "1 of 1 task exited 0" })).toBe(
      "1 of 1 task exited 0 · 0 restarts · 0.007 GiB·h",
    );
    const priced = { ...usage, gpuSeconds: 1800, cost: { amount: 1.5, currency: "EUR" } };
    expect(successDetails(aJobStatus({ tasks, usage: priced }), { summary: "1 of 1 task exited 0" })).toBe(
      "1 of 1 task exited 0 · 0 restarts · 0.007 GiB·h · 0.5 GPU·h · cost 1.5 EUR",
    );
    const measured = tasks.map((task) => ({ ...task, maxMemoryBytes: 1_073_741_824 }));
    expect(successDetails(aJobStatus({ tasks: measured, usage }), { summary: "1 of 1 task exited 0" })).toMatch(
      / · 0.007 GiB·h · memory peak 1 GiB of 4 GiB \(worker:0\)$/,
    );
    const tolerated = [...tasks, { task: "worker:1", state: "failed" as const, exit: "1", restarts: 0 }];
    expect(successDetails(aJobStatus({ tasks: tolerated, usage }), { summary: "1 of 2 tasks exited 0" })).toBe(
      "1 of 2 tasks exited 0 · failed: worker:1 (exit 1) · 0 restarts · 0.007 GiB·h",
    );
  });
});

test("a job is described by its roles, a search by how it goes and the roles of one trial", () => {
  const job = jobSpec([roleOf("worker", 2), roleOf("ps", 1)]);
  expect(describeJob(job)).toBe("worker × 2 (1 GiB, 1 core), ps × 1 (1 GiB, 1 core)");
  const search = { ...searchOf({ x: "float 0 1" }), maxTrials: 12 };
  expect(describeJob(searchRun(job, search))).toBe(
    "random, minimize loss · 12 trials, 4 at once · worker × 2 (1 GiB, 1 core), ps × 1 (1 GiB, 1 core)",
  );
  expect(describeJob(searchRun(jobSpec([roleOf("worker", 1)]), search))).toContain("· worker × 1 (1 GiB, 1 core)");
});

import { describe, expect, test } from "@jest/globals";
import type { Core } from "../../am/core/core.ts";
import type { Effect } from "../../am/core/state/effects.ts";
import { firstGang } from "../support/first-gang.ts";
import { DECOMMISSIONING } from "./faults/decommissioning.ts";
import { OUTAGE } from "./faults/partitions.ts";
import { EARLY_EXIT, HANG } from "./faults/programs.ts";
import type { Mutation } from "./planted-faults.ts";
import { problemsUntil, type RunOptions } from "./run.ts";

interface Mutant {
  readonly fault: string;
  readonly noticed: RegExp;
  readonly mutation: Mutation;
  /** The faults that have to strike the world for this one to matter; absent: what the seed chooses. */
  readonly faults?: readonly string[];
  /** The first seed that shows the fault, where many do not. */
  readonly firstSeed?: number;
}

/**
 * Faults planted in the core. Each must be noticed by the invariant that it breaks; otherwise that invariant proves
 * nothing.
 */
const MUTANTS: readonly Mutant[] = [
  {
    fault: "surplus containers are not given back",
    noticed: /is leaked/,
    mutation: (effects, core) => {
      for (const effect of effects) {
        if (effect.type === "release" && effect.reason === "no task needs it") {
          for (const id of effect.containerIds) {
            delete core.state.containers[id];
          }
        }
      }
      return effects.filter((effect) => effect.type !== "release" || effect.reason !== "no task needs it");
    },
  },
  {
    fault: "an exit with 0 is forgotten",
    noticed: /and a program had left early/,
    firstSeed: 5,
    faults: [EARLY_EXIT.name],
    mutation: (effects, core) => {
      firstGang(core).firstExit = undefined;
      return effects;
    },
  },
  {
    fault: "that a program was suspended is forgotten",
    noticed: /is put down to .* had been suspended/,
    firstSeed: 39,
    faults: [OUTAGE.name],
    mutation: (effects, core) => {
      firstGang(core).suspensions.splice(0);
      return effects;
    },
  },
  {
    fault: "a cluster spec keeps an address of the generation before",
    noticed: /lists another address/,
    mutation: (effects) =>
      changeStarts(effects, (start) => ({
        ...start,
        clusterSpec: {
          ...start.clusterSpec,
          tasks: start.clusterSpec.tasks.map((address) => ({ ...address, port: address.port - 2 })),
        },
      })),
  },
  {
    fault: "a task is left out of the cluster spec",
    noticed: /lists \S+ of generation/,
    mutation: (effects) =>
      changeStarts(effects, (start) => ({
        ...start,
        clusterSpec: { ...start.clusterSpec, tasks: start.clusterSpec.tasks.slice(1) },
      })),
  },
  {
    fault: "a task that joins its gang is not told which one it meets",
    noticed: /is to meet generation/,
    firstSeed: 24,
    mutation: (effects) =>
      changeStarts(effects, ({ clusterSpec: { gangGeneration: _, ...clusterSpec }, ...start }) => ({
        ...start,
        clusterSpec,
      })),
  },
  {
    fault: "an upload is believed of a container that the task does not hold",
    noticed: /is believed of .*, which it does not hold/,
    firstSeed: 16,
    mutation: (effects, core, event) => {
      const task = event.type === "transfer" ? core.state.tasks.find(({ id }) => id === event.task) : undefined;
      if (event.type === "transfer" && task !== undefined) {
        task.transfers = [event.transfer];
        const container = core.state.containers[event.containerId];
        if (container !== undefined) {
          container.phase = "discarded";
        }
      }
      return effects;
    },
  },
  {
    fault: "a job fails by the results of a task that has none",
    noticed: /fails by the results of/,
    mutation: (effects, core) => {
      const stopped = core.state.tasks.find(({ phase }) => phase === "stopped");
      if (core.state.outcome !== undefined && stopped !== undefined) {
        const reason = {
          code: "not-stored",
          task: stopped.id,
          what: "output",
          url: "hdfs:///results",
          why: "",
          others: 0,
          setting: { key: "tony.output.required" },
        } as const;
        core.state.outcome = { ...core.state.outcome, reason };
      }
      return effects;
    },
  },
  {
    fault: "a container is launched again",
    noticed: /is launched twice/,
    mutation: (effects) =>
      effects.flatMap((effect): Effect[] => (effect.type === "launch" ? [effect, effect] : [effect])),
  },
  {
    fault: "a program is started in another container of its generation",
    noticed: /is started twice in generation/,
    mutation: (effects) =>
      effects.flatMap((effect): Effect[] =>
        effect.type === "send" && effect.message.type === "start-child"
          ? [effect, { ...effect, to: { ...effect.to, containerId: "another" } }]
          : [effect],
      ),
  },
  {
    fault: "what was decided is not written down",
    noticed: /the journal is not to hear of/,
    mutation: (effects, core) => {
      core.state.journal.dirty = false;
      return effects.filter(({ type }) => type !== "journal");
    },
  },
  {
    fault: "a gang that runs has its pauses from before",
    noticed: /runs, and goes on from/,
    mutation: (effects, core) => {
      firstGang(core).hold.returns = 1;
      return effects;
    },
  },
  {
    fault: "a budget is overdrawn",
    noticed: /^budget program is/,
    mutation: onFailure((core) => {
      firstGang(core).charges.push(...Array.from({ length: 5 }, () => ({ class: "program", atMs: 0 }) as const));
    }),
  },
  {
    fault: "a program's budget is charged for nothing",
    noticed: /program failures are counted/,
    mutation: onSpec((core) => {
      for (let left = core.spec.failure.budgets.program; left > 0; left--) {
        firstGang(core).charges.push({ class: "program", atMs: 0 });
      }
    }),
  },
  {
    fault: "a role pays for what its programs did not do",
    noticed: /failures are charged to \S+, whose programs failed/,
    firstSeed: 7,
    mutation: onSpec((core) => {
      const own = core.spec.roles.find(({ retryCount = 0 }) => retryCount > 0);
      const { gang = 0 } = core.state.roles.find(({ name }) => name === own?.name) ?? {};
      if (own !== undefined) {
        core.state.gangs[gang]?.charges.push({ class: "program", role: own.name, atMs: 0 });
      }
    }),
  },
  {
    fault: "a role pays that has no restarts of its own",
    noticed: /has no budget in stage/,
    mutation: onFailure((core) => {
      firstGang(core).charges.push({ class: "program", role: "nobody", atMs: 0 });
    }),
  },
  {
    fault: "a restart is charged to nobody",
    noticed: /program failures are counted, and there were restarts after/,
    mutation: (effects, core) => {
      firstGang(core).charges.splice(0);
      return effects;
    },
  },
  {
    fault: "a wait ends later than is said, for nobody wakes the core",
    noticed: /^the wait for .* was to end \d+ ms ago/,
    firstSeed: 92,
    mutation: (effects) => effects.filter(({ type }) => type !== "wake-at"),
  },
  {
    fault: "a generation is numbered lower than the one before",
    noticed: /the generation went back/,
    mutation: onFailure((core) => {
      firstGang(core).generation = 0;
    }),
  },
  {
    fault: "the outcome is changed after it was decided",
    noticed: /the outcome changed/,
    mutation: (effects, core) => {
      if (core.state.finish === "stopping" && core.state.outcome !== undefined) {
        core.state.outcome = { ...core.state.outcome, summary: `${core.state.outcome.summary}!` };
      }
      return effects;
    },
  },
  {
    fault: "a generation starts before the journal knows of it",
    noticed: /before the journal knows/,
    mutation: onSpec((core) => {
      core.state.journal.durableSequence = 0;
    }),
  },
  {
    fault: "a task holds two containers",
    noticed: /holds two containers|says it lives in/,
    mutation: onSpec((core) => {
      const [one, other] = Object.values(core.state.containers).filter(({ phase }) => phase === "held");
      if (one !== undefined && other !== undefined) {
        other.task = one.task;
      }
    }),
  },
  {
    fault: "a waiting task is miscounted",
    noticed: /counts \d+ waiting tasks/,
    mutation: onSpec((core) => {
      const role = core.state.roles[0];
      if (role !== undefined) {
        role.counts.waiting++;
      }
    }),
  },
  {
    fault: "a container whose executor is gone is released before YARN has said why",
    noticed: /infrastructure failures are counted/,
    firstSeed: 90,
    mutation: (effects, core) => {
      const leaving = Object.values(core.state.containers).filter(({ phase }) => phase === "terminating");
      const containerIds = leaving.map(({ id }) => id);
      return containerIds.length === 0 ? effects : [...effects, { type: "release", containerIds, reason: "mutant" }];
    },
  },
  {
    fault: "more trials have containers than may run at once",
    noticed: /trials have \d+ containers, they may have \d+/,
    firstSeed: 13,
    mutation: (effects, core) => {
      const [task] = core.state.tasks.filter(({ phase }) => phase === "running");
      const container = core.state.containers[task?.containerId ?? ""];
      for (let more = core.spec.search?.maxParallel ?? 0; container !== undefined && more > 0; more--) {
        core.state.containers[`more-${more}`] = { ...container, id: `more-${more}` };
      }
      return effects;
    },
  },
  {
    fault: "programs of a trial are told of another trial's tasks",
    noticed: /is told of worker:\d+, which is not of its trial/,
    firstSeed: 345,
    mutation: (effects, core) =>
      effects.map((effect) => {
        if (effect.type !== "send" || effect.message.type !== "start-child" || core.spec.trials === undefined) {
          return effect;
        }
        const tasks = core.state.tasks.map(({ id, host, port }) => ({ task: id, host, port }));
        return { ...effect, message: { ...effect.message, clusterSpec: { ...effect.message.clusterSpec, tasks } } };
      }),
  },
  {
    fault: "the container of a trial that is over is kept",
    noticed: /is kept for worker:\d+, which is over/,
    firstSeed: 13,
    mutation: (effects, core, event) => {
      if (event.type === "child-exited") delete core.state.held[`task-done ${event.task}`];
      return effects;
    },
  },
  {
    fault: "a container that no trial waits for is kept for longer than it may be",
    noticed: /is kept for \d+ ms, \d+ ms are allowed/,
    firstSeed: 13,
    mutation: (effects, core) => {
      const container = Object.values(core.state.containers).find(({ phase }) => phase === "held");
      if (core.spec.search !== undefined && container !== undefined) {
        container.deadlines.idle = { sinceMs: core.state.startedAtMs, dueMs: core.state.startedAtMs + 1_000_000 };
      }
      return effects;
    },
  },
  {
    fault: "a container is kept that a trial waits for",
    noticed: /is kept while a trial waits for one like it/,
    firstSeed: 20,
    mutation: (effects, core) => {
      const { tasks, containers } = core.state;
      const waits = tasks.some(({ phase, trialParameters }) => phase === "waiting" && trialParameters !== undefined);
      const container = Object.values(containers).find(({ phase }) => phase === "held");
      if (waits && container !== undefined) container.deadlines.idle = { sinceMs: 0, dueMs: 0 };
      return effects;
    },
  },
  {
    fault: "the checkpoints of a trial are removed that goes on",
    noticed: /the checkpoints of worker:\d+ are removed, which is (running|paused)/,
    firstSeed: 13,
    mutation: (effects, core, event) => {
      const ended = event.type === "child-exited" && core.spec.search !== undefined;
      return ended ? [...effects, { type: "remove-checkpoints", tasks: [event.task] }] : effects;
    },
  },
  {
    fault: "a paused trial that is among the best does not go on",
    noticed: /pauses, is among the best, and there is room for it/,
    firstSeed: 20,
    mutation: (effects, core) => {
      const task = core.state.tasks.find(({ phase, trialRung = 0 }) => phase === "waiting" && trialRung > 0);
      const counts = core.state.roles[task?.role ?? -1]?.counts;
      if (task !== undefined && counts !== undefined) {
        Object.assign(task, { phase: "stopped", trialPause: "mutant", trialRung: (task.trialRung ?? 0) - 1 });
        counts.waiting--;
        counts.stopped++;
      }
      return effects;
    },
  },
  {
    fault: "a trial has other parameters when it starts again",
    noticed: /starts with the parameters/,
    firstSeed: 13,
    mutation: (effects) =>
      changeStarts(effects, ({ trialParams, ...start }) =>
        trialParams === undefined ? start : { ...start, trialParams: JSON.stringify({ lr: start.generation }) },
      ),
  },
  {
    fault: "the ResourceManager is never told the end",
    noticed: /never ended/,
    mutation: (effects) => effects.filter(({ type }) => type !== "unregister"),
  },
  {
    fault: "the cluster spec is never sent",
    noticed: /nothing bad happened/,
    mutation: (effects) => effects.filter((effect) => effect.type !== "send" || effect.message.type !== "start-child"),
  },
  {
    fault: "exits are forgotten",
    noticed: /never ended|nothing bad happened/,
    mutation: (effects, core, event) => {
      if (event.type === "child-exited") {
        const task = core.state.tasks.find(({ id }) => id === event.task);
        const role = core.state.roles[task?.role ?? 0];
        if (task?.phase === "succeeded" && role !== undefined && firstGang(core).phase === "running") {
          role.counts.succeeded--;
          role.counts.running++;
          task.phase = "running";
        }
      }
      return effects;
    },
  },
  {
    fault: "a program that hangs is not told to stop",
    noticed: /hung for \d+ ms/,
    faults: [HANG.name],
    mutation: (effects) =>
      effects.filter(
        (effect) =>
          effect.type !== "send" || effect.message.type !== "stop-child" || effect.message.dumpStacks !== true,
      ),
  },
  {
    fault: "a program that hung is charged to nobody",
    noticed: /because they hung, and none is counted/,
    firstSeed: 83,
    faults: [HANG.name],
    mutation: (effects, core) => {
      firstGang(core).charges.splice(0);
      return effects;
    },
  },
  {
    fault: "a program that hung ends the job though its budget is not spent",
    noticed: /the job failed of something else/,
    faults: [HANG.name],
    mutation: (effects, core, event) => {
      const hung = event.type === "child-exited" && event.exit.stopReason?.code === "hung";
      return hung ? [...effects, ...core.step({ type: "ask-refused", message: "mutant" }, event.exit.atMs)] : effects;
    },
  },
  {
    fault: "a preemption is charged",
    noticed: /infrastructure failures are counted/,
    faults: ["a container is preempted"],
    mutation: (effects, core, event) => {
      if (event.type === "container-completed" && event.exitStatus === -102) {
        firstGang(core).charges.push({ class: "infrastructure", atMs: 0 });
      }
      return effects;
    },
  },
  {
    fault: "a node's departure is charged",
    noticed: /infrastructure failures are counted/,
    faults: [DECOMMISSIONING.name],
    mutation: (effects, core) => {
      if (effects.some((effect) => effect.type === "send" && effect.message.type === "signal-child")) {
        firstGang(core).charges.push({ class: "infrastructure", atMs: 0 });
      }
      return effects;
    },
  },
  {
    fault: "a program starts on a node that leaves the cluster",
    noticed: /on a node that leaves the cluster/,
    faults: [DECOMMISSIONING.name],
    mutation: (effects, core, event) => {
      const hosts = event.type === "nodes-changed" ? event.nodes.filter(({ decommissioning }) => decommissioning) : [];
      const there = Object.values(core.state.containers).filter(({ host }) => hosts.some((node) => node.host === host));
      const launches = there.map(({ id, task, generation }) => ({ containerId: id, task, generation }));
      return launches.length === 0 ? effects : [...effects, { type: "relaunch", launches }];
    },
  },
  {
    fault: "a program is told to go on from a checkpoint in a container that was lost",
    noticed: /which it cannot read/,
    mutation: (effects) => changeStarts(effects, (start) => ({ ...start, checkpoint: "/a-container-that-was-lost/7" })),
  },
  {
    fault: "what a container holds is counted twice",
    noticed: /^usage counts .* containers have/,
    mutation: (effects, { state: { usage } }, event) => {
      if (event.type === "containers-allocated") {
        usage.vcores++;
      }
      return effects;
    },
  },
  {
    fault: "that nothing is wanted any more is said again",
    noticed: /is asked for, again/,
    mutation: (effects) =>
      effects.flatMap((effect): Effect[] => {
        const isEmpty = effect.type === "ask" && effect.asks.some(({ count }) => count === 0);
        return isEmpty ? [effect, effect] : [effect];
      }),
  },
  {
    fault: "a host that stays in the cluster is kept off",
    noticed: /^YARN keeps off .* the job wants nothing on/,
    faults: [DECOMMISSIONING.name],
    mutation: (effects) =>
      effects.map((effect) =>
        effect.type === "blacklist" ? { ...effect, hosts: [...effect.hosts, "node-that-stays"] } : effect,
      ),
  },
  {
    fault: "a program is started after the outcome was decided",
    noticed: /after the outcome was decided/,
    mutation: (effects, core) => {
      const [task] = core.state.tasks;
      if (core.state.finish !== "stopping" || task === undefined) {
        return effects;
      }
      const { generation } = firstGang(core);
      const clusterSpec = { generation, tasks: [] };
      const message = { generation, clusterSpec, restartReason: "", restarts: 0, checkpoint: "" };
      return [
        ...effects,
        {
          type: "send",
          to: { task: task.id, containerId: task.containerId },
          message: { type: "start-child", ...message },
        },
      ];
    },
  },
];

describe("every invariant can fail", () => {
  test.each(MUTANTS)("$fault", async ({ noticed, mutation, faults, firstSeed }) => {
    const options = faults === undefined ? { mutation } : { mutation, faults };
    expect(await problemsUntil(noticed, options, firstSeed)).toContainEqual(expect.stringMatching(noticed));
  });
});

test("an attempt that was replaced while it stood still and acts without asking is noticed", async () => {
  const options = { fenced: false, faults: ["the ApplicationMaster is paused, replaced, and goes on"] };
  const noticed = /nothing bad happened|held against|are counted/;
  expect(await problemsUntil(noticed, options, 413)).toContainEqual(expect.stringMatching(noticed));
});

test("a program that is not suspended while its executor reaches nobody is noticed", async () => {
  await expectOverlap({ executorFault: "suspend nothing", faults: ["a node is cut off"] }, 9);
});

test("an executor that does not learn from the journal that its task has moved is noticed", async () => {
  const faults = ["a node is cut off from the ApplicationMaster and its NodeManager stands still"];
  await expectOverlap({ executorFault: "do not read the journal", faults }, 9);
});

test("an attempt that is cut off with some of its executors, and keeps them when YARN has started another, is noticed", async () => {
  await expectOverlap({ givesWay: false, faults: ["the ApplicationMaster is cut off with some of the nodes"] }, 39);
});

async function expectOverlap(options: RunOptions, firstSeed: number): Promise<void> {
  const overlap = /runs on in generation .* long after it was replaced/;
  expect(await problemsUntil(overlap, options, firstSeed)).toContainEqual(expect.stringMatching(overlap));
}

type Start = Extract<Extract<Effect, { type: "send" }>["message"], { type: "start-child" }>;

function changeStarts(effects: Effect[], change: (start: Start) => Start): Effect[] {
  return effects.map((effect) =>
    effect.type === "send" && effect.message.type === "start-child"
      ? { ...effect, message: change(effect.message) }
      : effect,
  );
}

/** Plants a fault when a task has failed. */
function onFailure(plant: (core: Core) => void): Mutation {
  return (effects, core) => {
    if (effects.some((effect) => effect.type === "log" && effect.event === "task-failed")) {
      plant(core);
    }
    return effects;
  };
}

/** Plants a fault when a cluster spec is sent. */
function onSpec(plant: (core: Core) => void): Mutation {
  return (effects, core) => {
    if (effects.some((effect) => effect.type === "log" && effect.event === "cluster-spec-sent")) {
      plant(core);
    }
    return effects;
  };
}

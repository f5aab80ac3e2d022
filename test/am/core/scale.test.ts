import { expect, test } from "@jest/globals";
import { jobSpec, role } from "../../simulation/job.ts";
import { childExit } from "../../support/child-exit.ts";
import { Scenario } from "./scenario.ts";

/** Reads of tasks and containers in a whole life of a gang: allocation, registration, one failed generation with all its exits, the next one, the end. */
function workFor(tasks: number): number {
  const scenario = new Scenario(jobSpec([role("worker", tasks)]));
  scenario.register();
  let reads = 0;
  const counting = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(from, key, receiver) {
        reads++;
        return Reflect.get(from, key, receiver);
      },
    });
  const { state } = scenario.core;
  Object.assign(state, { tasks: counting(state.tasks), containers: counting(state.containers) });
  const step = scenario.core.step;
  const journals = new Set<number>();
  const bare: typeof step = (event, nowMs) => {
    const effects = step(event, nowMs);
    for (const effect of effects) {
      if (effect.type === "journal") {
        journals.add(effect.sequence);
      }
    }
    return effects;
  };
  const all = Array.from({ length: tasks }, () => scenario.container(1));
  const mail = (event: Parameters<typeof step>[0]) => bare(event, scenario.nowMs);
  mail({ type: "containers-allocated", containers: all });
  const each = (generation: number, child: "none" | "exited", exitCode: number) => {
    for (const [index, { containerId, host }] of all.entries()) {
      const task = `worker:${index}`;
      if (child === "none") {
        const identity = { task, containerId, generation, host, port: 1000 + index, tensorboardPort: 0 };
        mail({ type: "executor-registered", ...identity, rejoinAddress: `${host}:9`, child: { state: "none" } });
      } else {
        const exit = childExit(index, { exitCode });
        mail({ type: "child-exited", task, containerId, generation, exit });
      }
    }
  };
  const writeAll = () => {
    for (const sequence of [...journals]) {
      journals.delete(sequence);
      mail({ type: "journal-written", sequence });
    }
  };
  each(1, "none", 0);
  writeAll();
  each(1, "exited", 1);
  writeAll();
  each(2, "none", 0);
  writeAll();
  each(2, "exited", 0);
  expect(state.outcome?.result).toBe("succeeded");
  return reads;
}

test("the work of the core grows with the number of tasks, not with its square", () => {
  const perTask = [100, 1_000].map((tasks) => workFor(tasks) / tasks);
  expect(Math.max(...perTask)).toBeLessThan(1.5 * Math.min(...perTask));
});

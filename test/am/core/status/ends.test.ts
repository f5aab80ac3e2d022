import { describe, expect, test } from "@jest/globals";
import { endsOf } from "../../../../am/core/status/ends.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const [workers, evaluator] = [role("worker", 2), role("evaluator", 1)];

/** As the evaluator is told of the workers. */
function ends(scenario: Scenario, asking = "evaluator:0") {
  return endsOf(scenario.core, asking, ["worker"])?.map(({ task, state, exit }) => `${task} ${state} ${exit}`);
}

function running(spec = jobSpec([workers, evaluator])): Scenario {
  const scenario = new Scenario(spec);
  scenario.toRunning();
  return scenario;
}

describe("how the tasks of a role ended", () => {
  test("is known when the last one has ended", () => {
    const scenario = running();
    expect(ends(scenario)).toBeUndefined();
    scenario.exits("worker:0");
    expect(ends(scenario)).toBeUndefined();
    scenario.exits("worker:1");
    expect(ends(scenario)).toEqual(["worker:0 succeeded 0", "worker:1 succeeded 0"]);
  });

  test("is known when the last one has", () => {
    const scenario = running();
    expect(ends(scenario)).toBeUndefined();
    scenario.exits("worker:0");
    expect(ends(scenario)).toBeUndefined();
    scenario.exits("worker:1");
    expect(ends(scenario)).toEqual(["worker:0 succeeded 0", "worker:1 succeeded 0"]);
  });

  test("leaves out the task that asks", () => {
    const scenario = running();
    scenario.exits("worker:1");
    expect(ends(scenario, "worker:0")).toEqual(["worker:1 succeeded 0"]);
    expect(ends(scenario, "worker:1")).toBeUndefined();
  });

  test("is not known while others of the gang stop for its restart, and once the job has failed it is", () => {
    const scenario = running();
    scenario.exits("worker:0");
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.stops("evaluator:0");
    expect(ends(scenario)).toBeUndefined();
    const { failure } = jobSpec([]);
    const last = running(
      jobSpec([workers, evaluator], { failure: { ...failure, budgets: { program: 0, infrastructure: 0 } } }),
    );
    last.exits("worker:0");
    last.exits("worker:1", { exitCode: 1 });
    last.stops("evaluator:0");
    expect(last.core.state.outcome?.result).toBe("failed");
    expect(ends(last)).toEqual(["worker:0 succeeded 0", "worker:1 failed 1"]);
  });

  test("is not known while a failed task may start again", () => {
    const alone = { ...workers, restartPolicy: "task" } as const;
    const scenario = running(jobSpec([alone, evaluator]));
    scenario.exits("worker:0");
    scenario.exits("worker:1", { exitCode: 1 });
    expect(ends(scenario)).toBeUndefined();
    scenario.allocateAll();
    scenario.readyAll();
    scenario.startedAll();
    scenario.after(60_000);
    expect(ends(scenario)).toBeUndefined();
    scenario.exits("worker:1");
    expect(ends(scenario)).toEqual(["worker:0 succeeded 0", "worker:1 succeeded 0"]);
  });

  test("includes failures that are tolerated, and those that end the job", () => {
    const base = jobSpec([workers, evaluator]);
    const spec = { ...base, failure: { ...base.failure, budgets: { program: 0, infrastructure: 0 } } };
    const tolerant = running({ ...spec, failure: { ...spec.failure, onWorkerFailure: "tolerate" } });
    tolerant.exits("worker:1", { exitCode: 3 });
    tolerant.exits("worker:0");
    expect(ends(tolerant)).toEqual(["worker:0 succeeded 0", "worker:1 failed 3"]);

    const strict = running(spec);
    strict.exits("worker:1", { exitCode: 3 });
    expect(ends(strict)).toBeUndefined();
    strict.stops("evaluator:0");
    strict.stops("worker:0");
    expect(ends(strict)).toEqual(["worker:0 stopped SIGTERM", "worker:1 failed 3"]);
  });

  test("is known by the next attempt when it has read the journal", () => {
    const scenario = new Scenario(jobSpec([workers, evaluator]));
    scenario.register();
    const evaluators = scenario.container(2);
    const containers = [scenario.container(1), scenario.container(1), evaluators];
    scenario.on({ type: "containers-allocated", containers });
    scenario.readyAll();
    scenario.startedAll();
    scenario.exits("worker:0");
    scenario.exits("worker:1");
    scenario.after(1_000);
    scenario.crash([evaluators]);
    expect(ends(scenario)).toEqual(["worker:0 succeeded 0", "worker:1 succeeded 0"]);
  });
});

import { describe, expect, test } from "@jest/globals";
import {
  byTaskOf,
  missingGenerations,
  missingOutput,
  noSuchGeneration,
  noSuchTask,
  ofEarlierSearch,
  parseLogSelection,
  selectNames,
  selectTasks,
  shownName,
  tasksOf,
} from "../../../client/logs/log-selection.ts";
import type { TaskStatus } from "../../../src/job/status.ts";
import { aJobStatus } from "../job-status.ts";

describe("a generation that is asked for", () => {
  test("and does not exist is a mistake that names those there are", () => {
    expect(noSuchGeneration({ generation: 3 }, 2)).toMatchObject({
      message: "The job has no generation 3; it has 1 to 2",
      exitCode: 2,
    });
    expect(noSuchGeneration({ generation: 2 }, 2)).toBeUndefined();
    expect(noSuchGeneration({}, 1)).toBeUndefined();
    expect(noSuchGeneration({ generation: 2 }, 1)?.message).toBe("The job has no generation 2; it has 1 alone");
  });
});

describe("output in a container that is gone", () => {
  test("is said to be missing where it is wanted", () => {
    const words = "ran in containers that are gone: their logs can be read when the job has ended";
    expect(missingGenerations("worker:0", 2, {})).toBe(`generation 1 of worker:0 ${words}`);
    expect(missingGenerations("worker:0", 4, { generation: 3 })).toBe(`generations 1 to 3 of worker:0 ${words}`);
  });

  test("is not spoken of where something later is wanted", () => {
    expect(missingGenerations("worker:0", 1, {})).toBeUndefined();
    expect(missingGenerations("worker:0", 2, { generation: 2 })).toBeUndefined();
    expect(missingGenerations("worker:0", 2, { tail: 5 })).toBeUndefined();
    expect(missingGenerations("worker:0", 2, { sinceMs: 0 })).toBeUndefined();
    expect(missingOutput("worker:0", 0, {})).toBeUndefined();
    expect(missingOutput("worker:0", 5, { tail: 5 })).toBeUndefined();
  });
});

describe("tasks", () => {
  const tasks = ["ps:0", "worker:0", "worker:1", "worker:10", "worker-b:0"];
  const chosen = (text: string | undefined, ...of: readonly string[]) =>
    selectNames(parseLogSelection(text), of.length === 0 ? tasks : of);

  test.each([
    ["all", tasks],
    ["none", []],
    [undefined, ["worker:0"]],
    ["worker:1", ["worker:1"]],
    ["worker", ["worker:0", "worker:1", "worker:10"]],
    ["worker-b, ps:0", ["ps:0", "worker-b:0"]],
  ])("are chosen by %s", (text, expected) => {
    expect(chosen(text)).toEqual(expected);
  });

  test("that have no name are chosen by a word, as is that none is", () => {
    expect([undefined, "none", "all"].map((text) => parseLogSelection(text))).toEqual([
      { kind: "lead" },
      { kind: "none" },
      { kind: "all" },
    ]);
  });

  test("have one in the lead: the chief, else the first worker, else the first; or whom the job names", () => {
    expect(chosen(undefined, "worker:0", "chief:0")).toEqual(["chief:0"]);
    expect(chosen(undefined, "trainer:0", "trainer:1")).toEqual(["trainer:0"]);
    expect(selectNames({ kind: "lead" }, tasks, "ps:0")).toEqual(["ps:0"]);
  });

  test("that there are not are a mistake, which names those there are by their numbers", () => {
    const wrong = (text: string) => noSuchTask(parseLogSelection(text), ["worker:10", "worker:2", "ps:0"])?.message;
    expect(wrong("worker:2,worker:3")).toBe("The job has no task worker:3; it has ps:0, worker:2, worker:10");
    expect(wrong("worker")).toBeUndefined();
    expect(wrong("all")).toBeUndefined();
    expect(wrong("trial:1")).toBe("The job has no task trial:1; it has ps:0, worker:2, worker:10");
    const trial = (task: string) => (task === "ps:0" ? undefined : task.replace("worker", "trial"));
    const ofSearch = (text: string) => noSuchTask(parseLogSelection(text), ["worker:10", "worker:2", "ps:0"], trial);
    expect(ofSearch("worker:3")?.message).toBe("The job has no task worker:3; it has ps:0, worker:2, worker:10");
    expect(ofSearch("trial:3")?.message).toBe("The job has no task trial:3; it has trial:2, trial:10");
    expect(noSuchTask(parseLogSelection("ps"), [])?.message).toBe("The job has no task ps");
    expect(() => parseLogSelection("worker:x")).toThrow(
      '--logs takes none, all, or tasks such as worker:0, worker or trial:17, not "worker:x"',
    );
    expect(() => parseLogSelection("worker:x", "--task")).toThrow("--task takes none, all,");
  });

  test("of a job that does not run yet are those of its roles", () => {
    const roles = [
      { name: "ps", instances: 1 },
      { name: "worker", instances: 2 },
    ];
    expect(tasksOf(roles)).toEqual(["ps:0", "worker:0", "worker:1"]);
  });
});

describe("trials of a search", () => {
  const role = { allocated: 0, registered: 0, running: 0, ended: 0, memoryMiB: 1, vcores: 1, others: {} };
  const tasks = ["worker:0", "worker:1", "worker:2", "worker:3", "ps:0", "ps:1"];
  const status = aJobStatus({
    roles: [
      { ...role, name: "worker", instances: 4 },
      { ...role, name: "ps", instances: 2 },
    ],
    tasks: tasks.map((task): TaskStatus => ({ task, state: "running", restarts: 0 })),
    search: { metric: "loss", direction: "minimize", parameters: [], command: "", trials: 2 },
  });
  const chosen = (text: string | undefined, lead?: string) =>
    selectTasks(parseLogSelection(text), status, lead).map(({ task }) => task);

  test("are all their tasks, those of a role, or one", () => {
    expect(chosen("trial:1")).toEqual(["worker:2", "worker:3", "ps:1"]);
    expect(chosen("trial:1/worker")).toEqual(["worker:2", "worker:3"]);
    expect(chosen("trial:1/worker:1,ps:0")).toEqual(["worker:3", "ps:0"]);
    expect([chosen(undefined), chosen(undefined, "ps:1")]).toEqual([["worker:0"], ["ps:1"]]);
  });

  test("that ended in an earlier search are told with the one that has their logs", () => {
    const trial = { state: "completed", application: "application_1_0001" } as const;
    const after = {
      ...status,
      tasks: status.tasks.map((task) => (task.task === "worker:2" ? { ...task, trial } : task)),
    };
    const told = (text: string) => ofEarlierSearch(parseLogSelection(text), after)?.message;
    const ended = "trial:1 ended in application_1_0001, which has its logs: tony-ts logs application_1_0001";
    expect(told("trial:1")).toBe(`${ended} trial:1`);
    expect(told("trial:0,trial:1/worker:1")).toBe(`${ended} trial:1/worker:1`);
    expect(told("worker:3")).toBe(`${ended} trial:1/worker:1`);
    for (const other of ["trial:0", "worker:0", "worker", "all"]) expect(told(other)).toBeUndefined();
  });

  test("are called by themselves where each is one task, and else their tasks by their names there", () => {
    const names = (...trials: readonly string[]) => {
      const ofTrials = new Map(trials.map((name, index) => [`worker:${index}`, name]));
      const all = [...ofTrials.keys()];
      return all.map(shownName(all, (task) => ofTrials.get(task)));
    };
    expect(names("trial:3/worker:0", "trial:4/worker:0")).toEqual(["trial:3", "trial:4"]);
    expect(names("trial:3/worker:0", "trial:3/worker:1", "trial:4/worker:0")).toEqual([
      "trial:3/worker:0",
      "trial:3/worker:1",
      "trial:4/worker:0",
    ]);
    expect(shownName(["ps:0"], () => undefined)("ps:0")).toBe("ps:0");
  });

  test("that there are not are told by the name that was given", () => {
    const selection = byTaskOf(parseLogSelection("trial:2"), status);
    expect(selection).toEqual({ kind: "named", names: ["trial:2"] });
    expect(() => parseLogSelection("trial:x/worker:0")).toThrow('not "trial:x/worker:0"');
  });
});

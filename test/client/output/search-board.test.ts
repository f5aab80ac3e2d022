import { expect, test } from "@jest/globals";
import { searchBoard } from "../../../client/output/search-board.ts";
import type { SearchStatus, TaskStatus, TrialStatus, Wait } from "../../../src/job/status.ts";
import { aJobStatus, allSucceeded } from "../job-status.ts";

const search: SearchStatus = { metric: "loss", direction: "minimize", parameters: ["lr"], command: "train" };
const time = { heldMs: 100_000, startMs: 1_000, handOverMs: 100, barrierMs: 0, afterLastMs: 0 };

const trial = (number: number, state: TrialStatus["state"], loss?: number): TaskStatus => ({
  ...{ task: `worker:${number}`, state: state === "running" ? "running" : "succeeded", restarts: 0, host: "n1" },
  ...{ params: { lr: `0.${number + 1}` }, trial: { state }, startedAtMs: 10_000, step: 3 },
  ...(loss !== undefined && { metrics: { loss } }),
  ...(state !== "running" && { endedAtMs: 70_000 }),
});
const waiting: TaskStatus = { task: "worker:9", state: "waiting", restarts: 0 };

const board = (tasks: readonly TaskStatus[], given = search) =>
  searchBoard(aJobStatus({ tasks, search: given }), given, 130_000);

test("a board shows the best, the counts, what runs, and for how long it may go on", () => {
  const tasks = [
    trial(0, "completed", 0.5),
    trial(1, "stopped", 0.25),
    trial(2, "failed"),
    trial(3, "running", 0.125),
    { ...trial(4, "running"), startedAtMs: 120_000 },
    waiting,
  ];
  const shown = board(tasks, { ...search, containerTime: time });
  expect(shown?.lines).toEqual([
    "  best   trial 1 · loss 0.25 at step 3 · lr=0.2",
    "  trials 3 ended (1 stopped early, 1 failed) · 2 running · 1 to come · about 1 min left · idle 1.1 % of container time",
    "  #3   n1   2 min   loss 0.125 at step 3 · lr=0.4",
    "  #4   n1   10 s    loss – at step 3 · lr=0.5",
  ]);
  expect(shown).toMatchObject({
    ...{ cause: "trials", change: "trials", facts: [] },
    line: expect.stringMatching(/^trials: 3 ended \(1 stopped early, 1 failed\)/),
  });
});

test("of a search that ends there is no board", () => {
  const outcome = { ...allSucceeded, endedAtMs: 1 };
  expect(searchBoard(aJobStatus({ tasks: [trial(0, "completed")], search, outcome }), search, 130_000)).toBeUndefined();
});

test("without enough that have ended nobody says how long it takes; of many that run the first are shown", () => {
  const many = Array.from({ length: 10 }, (_, number) => trial(number, "running"));
  const shown = board(many);
  expect(shown?.lines[0]).toBe("  trials 0 ended · 10 running · 0 to come");
  expect(shown?.lines.slice(-2)).toEqual([expect.stringMatching(/^ {2}#7 /), "  and 2 more run"]);
  expect(board([waiting])).toBeUndefined();
});

test("nobody says that no time is left while trials run whose like have ended at once", () => {
  const brief = [0, 1, 2].map((number) => ({ ...trial(number, "failed"), endedAtMs: 10_500 }));
  expect(board([...brief, trial(3, "running")])?.lines).toContain(
    "  trials 3 ended (3 failed) · 1 running · 0 to come",
  );
});

test("a board says what trials wait for, and why", () => {
  const wait: Wait = {
    ...{ cause: "containers of worker", what: "2 of 4 containers of worker: 2 GiB", sinceMs: 120_000 },
    ...{ reason: { code: "am" }, delays: [], reasons: ["too little memory"], remedy: "lower tony.worker.memory" },
  };
  const { startedAtMs: _, host: __, ...held } = trial(1, "running");
  const tasks: readonly TaskStatus[] = [trial(0, "running", 0.5), { ...held, state: "waiting" }];
  const shown = searchBoard(aJobStatus({ tasks, search, waits: [wait] }), search, 130_000);
  expect(shown?.lines).toEqual([
    "  trials 0 ended · 1 running · 1 waiting · 0 to come",
    "  #0   n1   2 min     loss 0.5 at step 3 · lr=0.1",
    "  #1   –    waiting   loss – at step 3 · lr=0.2",
    "  waiting 10 s for 2 of 4 containers of worker: 2 GiB",
    "            why: too little memory",
    "            → lower tony.worker.memory",
  ]);
});

test("trials that pause are neither ended nor running, and say nothing of how long others take", () => {
  const tasks = [trial(0, "paused", 0.5), trial(1, "paused", 0.25), trial(2, "completed", 0.75), trial(3, "running")];
  expect(board(tasks)?.lines.slice(0, 2)).toEqual([
    "  best   trial 1 · loss 0.25 at step 3 · lr=0.2",
    "  trials 1 ended · 1 running · 2 paused · 0 to come",
  ]);
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Optuna } from "../../../am/search/optuna.ts";
import type { Trial } from "../../../src/job/search/trials.ts";
import { searchOf } from "../../job/search/support.ts";
import { eventually } from "../../support/eventually.ts";
import { silentLog } from "../../support/silent-log.ts";
import { SteppedClock } from "../../support/stepped-clock.ts";

/** Answers each question with what it was told: how many trials by now, and those of the question. */
const HONEST = `
  let lines = 0, trials = 0;
  require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const said = JSON.parse(line);
    if (lines++ === 0) return;
    trials += said.trials.length;
    const told = said.trials.map(({ number, state, value = "" }) => number + state + value).join();
    console.log(JSON.stringify({ number: said.number, params: { trials, told } }));
  });
`;

const HANGS = "setInterval(() => {}, 1000);";

const started: Optuna[] = [];
afterEach(() => {
  for (const one of started.splice(0)) one.stop();
});

/** A search that wants one trial after the other, and a clock on which no more than the pause before each restart passes by itself. */
function asking(...command: readonly [string, ...string[]]) {
  const clock = new SteppedClock();
  const trials: Trial[] = [];
  const said: unknown[] = [];
  const restarts: string[] = [];
  const want: { number: number | undefined } = { number: 0 };
  const optuna = new Optuna({
    search: searchOf({ x: "float 0 1" }),
    command,
    clock,
    log: {
      ...silentLog,
      warn: (_, message) => {
        restarts.push(message);
        setImmediate(() => void clock.pass(1_000));
      },
    },
    wanted: () => want.number,
    trials: () => trials,
    post: (event) => said.push(event),
  });
  started.push(optuna);
  return { clock, trials, said, restarts, want, optuna };
}

const node = (program: string) => [process.execPath, "-e", program] as const;

describe("the process that asks Optuna", () => {
  test("is told of trials when they are new and when they have ended, once each", async () => {
    const { trials, said, want, optuna } = asking(...node(HONEST));
    const answers = (count: number) => {
      want.number = count - 1;
      optuna.look();
      optuna.look();
      return eventually("an answer", () => said.length === count);
    };
    await answers(1);
    trials.push({ params: { x: 0.5 }, state: "running", value: 4, step: 1 });
    await answers(2);
    trials[0] = { params: { x: 0.5 }, state: "completed", value: Number.POSITIVE_INFINITY, step: 2 };
    trials.push({ params: { x: 0.6 }, state: "running" });
    await answers(3);
    await answers(4);
    expect(said).toEqual([
      { type: "trial-proposed", number: 0, params: { trials: 0, told: "" } },
      { type: "trial-proposed", number: 1, params: { trials: 1, told: "0running" } },
      { type: "trial-proposed", number: 2, params: { trials: 3, told: "0completedInfinity,1running" } },
      { type: "trial-proposed", number: 3, params: { trials: 3, told: "" } },
    ]);
  });

  test("that died is started again, and told of all trials", async () => {
    const { trials, said, restarts, optuna } = asking(
      ...node(`${HONEST} if (!process.env.OMP_NUM_THREADS) process.exit(1); setTimeout(() => process.exit(0), 300);`),
    );
    trials.push({ params: { x: 0.5 }, state: "failed" });
    optuna.look();
    await eventually("an answer", () => said.length === 1);
    await eventually("its end", () => restarts.length === 1);
    await eventually("another answer", () => said.length === 2);
    const answer = { type: "trial-proposed", number: 0, params: { trials: 1, told: "0failedNaN" } };
    expect(said).toEqual([answer, answer]);
  });

  test("that dies again and again is started again each time, as long as each gives an answer", async () => {
    const { said, restarts, optuna } = asking(...node(`${HONEST} setTimeout(() => process.exit(0), 300);`));
    for (const answers of [1, 2, 3, 4]) {
      optuna.look();
      await eventually("an answer", () => said.length >= answers);
      await eventually("its end", () => restarts.length >= answers);
    }
    expect(said).toEqual(said.map(() => ({ type: "trial-proposed", number: 0, params: { trials: 0, told: "" } })));
  });

  test("that has answered is not late, however long nothing more is wanted of it", async () => {
    const { clock, said, restarts, want, optuna } = asking(...node(HONEST));
    optuna.look();
    await eventually("an answer", () => said.length === 1);
    want.number = undefined;
    await clock.pass(120_000);
    expect(restarts).toEqual([]);
  });

  test("whose answer is awaited when all ends is neither late nor started again", async () => {
    const { clock, said, restarts, optuna } = asking(...node(HANGS));
    optuna.look();
    optuna.stop();
    await clock.pass(120_000);
    expect([said, restarts, optuna.waits]).toEqual([[], [], []]);
  });

  test("is told by its own last words, not by those of the process before", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "optuna-"));
    const first = path.join(folder, "first");
    const { restarts, optuna } = asking(
      ...node(`
        const { existsSync, writeFileSync } = require("node:fs");
        if (existsSync(${JSON.stringify(first)})) process.exit(3);
        writeFileSync(${JSON.stringify(first)}, "");
        process.stderr.write("no room left\\n");
        process.exit(1);
      `),
    );
    optuna.look();
    await eventually("two ends", () => restarts.length === 2);
    rmSync(folder, { recursive: true });
    expect(restarts[0]).toContain("no room left");
    expect(restarts[1]).toContain("ended with exit code 3");
  });

  test.each([
    [
      "ends",
      node("process.stderr.write('Traceback\\nModuleNotFoundError: no optuna\\n'); process.exit(1)"),
      "ModuleNotFoundError: no optuna",
    ],
    ["ends without a word", node("process.exit(3)"), `${process.execPath} ended with exit code 3`],
    ["says what is no answer", node(`console.log("hello"); ${HANGS}`), "it said what is no answer: hello"],
    [
      "answers another question",
      node(`console.log('{"number":7,"params":{}}'); ${HANGS}`),
      'it said what is no answer: {"number":7,"params":{}}',
    ],
  ] as const)("that %s is started again twice, then the core is told", async (_, [program, ...words], problem) => {
    const { said, restarts, optuna } = asking(program, ...words);
    optuna.look();
    await eventually("the end", () => said.length === 1);
    expect(said).toEqual([{ type: "proposals-failed", problem, hasRun: true }]);
    expect(restarts).toHaveLength(2);
    optuna.look();
    expect(optuna.waits).toEqual([]);
  });

  test.each([
    ["is not there", "/nowhere/python3", "there is no program /nowhere/python3"],
    ["is a folder", "/", "/ cannot be executed"],
  ])("whose interpreter %s never runs, which the core is told in words", async (_, program, problem) => {
    const { said, optuna } = asking(program);
    optuna.look();
    await eventually("the end", () => said.length === 1);
    expect(said).toEqual([{ type: "proposals-failed", problem, hasRun: false }]);
  });

  test("has a minute for an answer, and what is waited for is shown", async () => {
    const { clock, said, restarts, optuna } = asking(...node(HANGS));
    optuna.look();
    await clock.pass(2_000);
    expect(optuna.waits).toEqual([]);
    await clock.pass(1_000);
    expect(optuna.waits.map(({ what }) => what)).toEqual(["Optuna's proposal for trial 0"]);
    for (const lives of [1, 2, 2]) {
      await clock.pass(60_000);
      await eventually("another process", () => restarts.length === lives);
      await clock.pass(1_000);
    }
    expect(said).toEqual([{ type: "proposals-failed", problem: "no answer within 1 min", hasRun: true }]);
  });

  test("is not started where nothing is wanted", async () => {
    const { said, restarts, want, optuna, clock } = asking("/nowhere/python3");
    want.number = undefined;
    optuna.look();
    await clock.pass(120_000);
    expect([said, restarts, optuna.waits]).toEqual([[], [], []]);
  });
});

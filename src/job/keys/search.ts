import { parseParameter } from "../search/parse-parameter.ts";
import type { Described } from "../search/space.ts";
import { type Budget, MOST_TRIALS } from "../search/trials.ts";
import { amount, count, object, string } from "../shape.ts";
import { key } from "./key.ts";
import { integer, type KeyType, oneOf, optionalDuration, path, text } from "./types.ts";

/** In JSON it is the text that was written. */
const parameter: KeyType<Described> = {
  label: "parameter of a search",
  parse: parseParameter,
  shape: (value, where) => parseParameter(string(value, where)),
};

const budgetWords = "MIN MAX FACTOR in whole steps, MIN at most MAX and FACTOR at least 2, such as 1 81 3";

const budget: KeyType<Budget> = {
  label: "rungs",
  parse: (text) => {
    const [min = 0, max = 0, factor = 0, ...more] = text
      .trim()
      .split(/\s+/)
      .map((word) => (/^\d{1,15}$/.test(word) ? Number(word) : 0));
    if (min >= 1 && max >= min && factor >= 2 && more.length === 0) return { min, max, factor };
    throw new RangeError(`${budgetWords}, not "${text.trim()}"`);
  },
  shape: object({ required: { min: count, max: count, factor: count }, optional: {} }),
};

const metricValue: KeyType<number> = {
  label: "number",
  parse: (text) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (Number.isFinite(value)) return value;
    throw new RangeError(`a number such as 0.95, not "${text.trim()}"`);
  },
  shape: amount,
};

const keptCheckpoints: KeyType<number | undefined> = {
  label: "all | number",
  mayBeNone: true,
  parse: (text) => {
    const value = text.trim();
    if (/^\d{1,9}$/.test(value)) return Number(value);
    if (value.toLowerCase() === "all") return undefined;
    throw new RangeError(`all, or a number of trials such as 3, not "${value}"`);
  },
  shape: count,
};

const algorithms = oneOf("tpe", "random", "grid", "evolution", "optuna");
const rules = oneOf("none", "median", "asha", "asha-promotion", "hyperband");

/** Other tools call rules that stop trials algorithms. */
const algorithm: typeof algorithms = {
  ...algorithms,
  parse: (text) => {
    const rule = rules.words.find((word) => word !== "none" && word === text.trim().toLowerCase());
    if (rule === undefined) return algorithms.parse(text);
    const words = algorithms.words.join(", ");
    throw new RangeError(
      `one of ${words}, not "${rule}", which is a rule of another key: set tony.search.stop = ${rule}`,
    );
  },
};

/** A search for good parameters of the program; all keys are ours. `build-search.ts` combines them. */
export const searchKeys = {
  "tony.search.param.{param}": key({
    type: parameter,
    doc: "One parameter: float LOW HIGH, int LOW HIGH or choice VALUE…; log after the two numbers samples on a log scale, step S in steps of S. With when NAME=VALUE at the end, only trials in which that other parameter, a choice, has this value have it. This key makes the job a search.",
    support: "works",
    ours: true,
  }),
  "tony.search.space": key({
    type: path,
    doc: "File with the parameters, instead of a key for each: JSON, or YAML with one NAME: float 0 1 on each line.",
    support: "works",
    ours: true,
  }),
  "tony.search.points": key({
    type: text,
    doc: "Parameters of the first trials, such as lr=0.01 optimizer=adam; lr=0.1 optimizer=sgd.",
    support: "works",
    ours: true,
  }),
  "tony.search.metric": key({
    type: text,
    doc: "The name of the reported metric by which trials are compared; required in a search.",
    support: "works",
    ours: true,
  }),
  "tony.search.direction": key({
    type: oneOf("minimize", "maximize"),
    doc: "Whether lower or higher values of the metric are better; required in a search.",
    support: "works",
    ours: true,
  }),
  "tony.search.algorithm": key({
    type: algorithm,
    default: "tpe",
    doc: "How parameters are chosen. tpe: after ten random trials, prefers values that are more frequent in the best trials; random; grid: all combinations, varying the last parameter first; evolution: derives each generation of trials from the previous one (differential evolution); optuna: asks Optuna, a Python package, for each trial.",
    support: "works",
    ours: true,
  }),
  "tony.search.optuna.python": key({
    type: text,
    doc: "For optuna: the Python in the ApplicationMaster's container that has Optuna installed; default tony.python-exec-path, or python3. tony.am.resources can ship an environment there.",
    support: "works",
    ours: true,
  }),
  "tony.search.population": key({
    type: integer({ min: 4 }),
    default: "6",
    doc: "For evolution: how many trials a generation has.",
    support: "works",
    ours: true,
  }),
  "tony.search.stop": key({
    type: rules,
    default: "none",
    doc: "Which trials are stopped early. median: those whose best value is worse than the median of the averages that at least five others had by that step. asha: those that are not among the best when they reach a rung of tony.search.budget. asha-promotion: all pause at each rung, and the best continue from their checkpoints. hyperband: the same, in brackets that begin at each of the rungs.",
    support: "works",
    ours: true,
  }),
  "tony.search.budget": key({
    type: budget,
    doc: "For asha, asha-promotion and hyperband: the rungs, as MIN MAX FACTOR in steps. With 1 81 3 trials are compared at steps 1, 3, 9 and 27, one in three goes on each time, and step 81 is the end.",
    support: "works",
    ours: true,
  }),
  "tony.search.max-trials": key({
    type: integer({ min: 1, max: MOST_TRIALS }),
    doc: "The number of trials; default 100, for grid all combinations, for evolution five generations, for hyperband one round.",
    support: "works",
    ours: true,
  }),
  "tony.search.max-parallel": key({
    type: integer({ min: 1 }),
    default: "4",
    doc: "How many trials run at once.",
    support: "works",
    ours: true,
  }),
  "tony.search.keep-checkpoints": key({
    type: keptCheckpoints,
    default: "all",
    doc: "Which ended trials keep the checkpoints that executors stored (tony.checkpoint.local-dir): all, or this many of the best. Trials that run, pause or were interrupted always keep theirs.",
    support: "works",
    ours: true,
  }),
  "tony.search.keep-idle-ms": key({
    type: optionalDuration("ms"),
    default: "0",
    doc: "How long a container that no trial waits for is kept if trials may begin or continue later: at a rung, or with the next generation. 0: it is returned at once.",
    support: "works",
    ours: true,
  }),
  "tony.search.goal": key({
    type: metricValue,
    doc: "A value that is good enough: when a trial has ended with it or a better one, the search ends, and trials that still run are stopped.",
    support: "works",
    ours: true,
  }),
  "tony.search.timeout": key({
    type: optionalDuration("ms"),
    default: "0",
    doc: "After this time the search ends with what it has found; trials that still run are stopped.",
    support: "works",
    ours: true,
  }),
  "tony.search.retry-count": key({
    type: integer(),
    default: "2",
    doc: "How often a trial whose program failed restarts, in another container each time, and finally on another node if possible; after that the trial has failed.",
    support: "works",
    ours: true,
  }),
  "tony.search.max-failed-trials": key({
    type: integer({ min: 1 }),
    doc: "The search fails when this many trials have failed; without it, only when the first five have failed the same way.",
    support: "works",
    ours: true,
  }),
  "tony.search.max-failed-trials-in-a-row": key({
    type: integer({ min: 1 }),
    doc: "The same for trials that failed one after another.",
    support: "works",
    ours: true,
  }),
  "tony.search.on-failed-trial": key({
    type: oneOf("continue", "end"),
    default: "continue",
    doc: "What happens when a trial has failed: the search goes on, or ends as failed.",
    support: "works",
    ours: true,
  }),
  "tony.search.seed": key({
    type: integer(),
    default: "0",
    doc: "The same seed, space and results lead to the same trials.",
    support: "works",
    ours: true,
  }),
} as const;

import { parseParameter } from "../search/parse-parameter.ts";
import type { Described } from "../search/space.ts";
import { string } from "../shape.ts";
import { key } from "./key.ts";
import { integer, type KeyType, oneOf, path, text } from "./types.ts";

/** In JSON it is as it was written. */
const parameter: KeyType<Described> = {
  label: "parameter of a search",
  parse: parseParameter,
  shape: (value, where) => parseParameter(string(value, where)),
};

/** A search for good parameters of the program; all ours. `build-search.ts` puts them together. */
export const searchKeys = {
  "tony.search.param.{param}": key({
    type: parameter,
    doc: "One parameter: float LOW HIGH, int LOW HIGH or choice VALUE…; log behind two numbers spreads it by ratio, step S by steps, and when NAME=VALUE at the end has it only where another one, a choice, is of that value. The job is a search then.",
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
    doc: "Trials to begin with: lr=0.01 optimizer=adam; lr=0.1 optimizer=sgd.",
    support: "works",
    ours: true,
  }),
  "tony.search.metric": key({
    type: text,
    doc: "The metric that counts, by the name under which programs report it; a search needs it.",
    support: "works",
    ours: true,
  }),
  "tony.search.direction": key({
    type: oneOf("minimize", "maximize"),
    doc: "Which values of the metric are better; a search needs it.",
    support: "works",
    ours: true,
  }),
  "tony.search.algorithm": key({
    type: oneOf("tpe", "random", "grid"),
    default: "tpe",
    doc: "How parameters are chosen: tpe by what the best trials have more often than others, and the first ten by chance; random by chance; grid takes all combinations, the last parameter's values next to each other.",
    support: "works",
    ours: true,
  }),
  "tony.search.max-trials": key({
    type: integer({ min: 1 }),
    doc: "How many trials there are; default 100, of a grid all.",
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
  "tony.search.seed": key({
    type: integer(),
    default: "0",
    doc: "The same seed, space and results lead to the same trials.",
    support: "works",
    ours: true,
  }),
} as const;

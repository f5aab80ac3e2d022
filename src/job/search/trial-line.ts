import { amount, arrayOf, literal, object, recordOf, type Shape, ShapeError } from "../shape.ts";
import type { Parameters, ParameterValue, Space } from "./space.ts";
import { type Report, type Trial, type TrialState, trialStates } from "./trials.ts";

export const parameterValue: Shape<ParameterValue> = (value, where) => {
  if (typeof value === "string" || typeof value === "number") return value;
  throw new ShapeError(`${where} must be a number or text`);
};

/** None is null. */
const metricValue: Shape<number | null> = (value, where) => {
  if (value === null || typeof value === "number") return value;
  throw new ShapeError(`${where} must be a number or null`);
};

const reports: Shape<readonly Report[]> = (value, where) => {
  const rows = arrayOf(arrayOf(metricValue))(value, where).map(([step, reported]) => ({
    step,
    value: reported ?? Number.NaN,
  }));
  // A program that begins again from a checkpoint reports some steps again.
  let last = Number.NEGATIVE_INFINITY;
  return rows.flatMap(({ step, value }) => {
    if (typeof step !== "number") throw new ShapeError(`${where} must be a list of [step, value]`);
    if (step <= last) return [];
    last = step;
    return [{ step, value }];
  });
};

interface TrialLine {
  readonly params: Parameters;
  readonly state?: TrialState;
  readonly value?: number | null;
  readonly step?: number;
  readonly reports?: readonly Report[];
}

const line = object<TrialLine>({
  required: { params: recordOf(parameterValue) },
  optional: {
    state: literal(...trialStates),
    value: metricValue,
    step: amount,
    reports,
  },
});

/**
 * Reads one trial: `{"params": {"lr": 0.01}, "value": 0.93}`, with a `state` where it did not complete, and what it reported by step:
 * `"reports": [[1, 0.5], [2, 0.7]]`. Without value and state it runs. What it reported last is its value and step where these are not given.
 * @throws Error that says what is wrong
 */
export function readTrial(text: string, space: Space): Trial {
  const { params, state, value, step, ...given } = line(JSON.parse(asJson(text)), "");
  const stray = Object.keys(params).find((name) => !space.some((parameter) => parameter.name === name));
  if (stray !== undefined) throw new ShapeError(`params has ${stray}, which is no parameter of the search`);
  const last = given.reports?.at(-1);
  const found = { value: value === undefined ? last?.value : (value ?? undefined), step: step ?? last?.step };
  return {
    params,
    state: state ?? (value === undefined ? "running" : value === null ? "failed" : "completed"),
    ...(found.value === undefined ? {} : { value: found.value }),
    ...(found.step === undefined ? {} : { step: found.step }),
    ...given,
  };
}

/** Python writes NaN and Infinity as they are, which are no JSON. */
function asJson(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|NaN|Infinity/g, (word) => {
    if (word.startsWith('"')) return word;
    return word === "NaN" ? "null" : "1e999";
  });
}

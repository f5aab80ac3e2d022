import { amount, literal, object, recordOf, type Shape, ShapeError } from "../shape.ts";
import type { ParameterValue, Space } from "./space.ts";
import type { Trial, TrialState } from "./trials.ts";

const parameterValue: Shape<ParameterValue> = (value, where) => {
  if (typeof value === "string" || typeof value === "number") return value;
  throw new ShapeError(`${where} must be a number or text`);
};

/** Python writes NaN as it is, which is no JSON, and what has no value as null. */
const metricValue: Shape<number | null> = (value, where) => {
  if (value === null || typeof value === "number") return value;
  throw new ShapeError(`${where} must be a number or null`);
};

const line = object<{
  params: Readonly<Record<string, ParameterValue>>;
  state?: TrialState;
  value?: number | null;
  step?: number;
}>({
  required: { params: recordOf(parameterValue) },
  optional: { state: literal("running", "completed", "stopped", "failed"), value: metricValue, step: amount },
});

/**
 * Reads one trial: `{"params": {"lr": 0.01}, "value": 0.93}`, with a `state` where it did not complete, and the last `step` where it was stopped. Without either it runs.
 * @throws Error that says what is wrong
 */
export function readTrial(text: string, space: Space): Trial {
  const { params, state, value, step } = line(JSON.parse(text.replace(/:\s*(NaN|-?Infinity)\b/g, ": null")), "");
  const stray = Object.keys(params).find((name) => !space.some((parameter) => parameter.name === name));
  if (stray !== undefined) throw new ShapeError(`params has ${stray}, which is no parameter of the search`);
  const known = { ...(typeof value === "number" ? { value } : {}), ...(step === undefined ? {} : { step }) };
  return {
    params,
    state: state ?? (value === undefined ? "running" : value === null ? "failed" : "completed"),
    ...known,
  };
}

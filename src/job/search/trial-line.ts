import { amount, arrayOf, count, literal, object, recordOf, type Shape, ShapeError, string } from "../shape.ts";
import type { ParameterValue } from "./space.ts";
import { type Report, type SearchSaid, type Trial, type TrialLine, trialStates, type WrittenValue } from "./trials.ts";

export const parameterValue: Shape<ParameterValue> = (value, where) => {
  if (typeof value === "string" || typeof value === "number") return value;
  throw new ShapeError(`${where} must be a number or text`);
};

const metricValue: Shape<WrittenValue> = (value, where) => {
  if (value === null || typeof value === "number") return value;
  if (value === "NaN" || value === "Infinity" || value === "-Infinity") return value;
  throw new ShapeError(`${where} must be a number or null`);
};

const searchSaid = object<SearchSaid>({
  required: { metric: string, direction: literal("minimize", "maximize"), space: recordOf(string) },
  optional: {},
});

/** A line that was read from JSON. */
export const trialLineShape: Shape<TrialLine> = object<TrialLine>({
  required: { params: recordOf(parameterValue) },
  optional: {
    number: count,
    state: literal(...trialStates),
    value: metricValue,
    step: amount,
    reports: arrayOf(arrayOf(metricValue)),
    startedAtMs: amount,
    endedAtMs: amount,
    why: string,
    error: string,
    checkpoint: string,
    checkpointStep: amount,
    application: string,
    search: searchSaid,
  },
});

/**
 * Reads one trial: `{"params": {"lr": 0.01}, "value": 0.93}`, with a `state` where it did not complete, and its reports by step:
 * `"reports": [[1, 0.5], [2, 0.7]]`.
 * @throws Error that says what is wrong
 */
export function readTrialLine(text: string): TrialLine {
  const line = trialLineShape(JSON.parse(asJson(text)), "");
  readReports(line.reports ?? []);
  return line;
}

/**
 * The trial that a line describes. Without value and state it counts as running, as does an interrupted one. Its last report gives its value
 * and step where these are missing.
 */
export function trialOfLine({ params, state, value, step, reports: written }: TrialLine): Trial {
  const reports = written && readReports(written);
  const last = reports?.at(-1);
  const told = value === undefined ? last?.value : value === null ? undefined : Number(value);
  const atStep = step ?? last?.step;
  const ended = value === null || value === "NaN" ? "failed" : "completed";
  return {
    params,
    state: state === "interrupted" ? "running" : (state ?? (value === undefined ? "running" : ended)),
    ...(told === undefined ? {} : { value: told }),
    ...(atStep === undefined ? {} : { step: atStep }),
    ...(reports && { reports }),
  };
}

/** A program that resumes from a checkpoint reports some steps again. */
function readReports(rows: readonly (readonly WrittenValue[])[]): readonly Report[] {
  let last = Number.NEGATIVE_INFINITY;
  return rows.flatMap(([step, value]) => {
    if (typeof step !== "number") throw new ShapeError("reports must be a list of [step, value]");
    if (step <= last) return [];
    last = step;
    return [{ step, value: value === null || value === undefined ? Number.NaN : Number(value) }];
  });
}

/** Python writes NaN and Infinity literally, which is not valid JSON. */
function asJson(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|NaN|Infinity/g, (word) => {
    if (word.startsWith('"')) return word;
    return word === "NaN" ? "null" : "1e999";
  });
}

import { METRIC_NAME } from "../../src/job/program-metrics.ts";

/** What a program reports at one time about its progress. */
export interface Mark {
  readonly step: number | undefined;
  readonly checkpoint: string | undefined;
  readonly metrics: readonly (readonly [name: string, value: number])[];
}

/** Called with what was meant for us and cannot be kept. */
type Complain = (words: string) => void;

/** Strings, which stay, or what Python's json writes for numbers that JSON does not have. */
const STRING_OR_NO_NUMBER = /"(?:\\.|[^"\\])*"|-?\b(?:NaN|Infinity)\b/g;

/** Numbers that JSON does not have become strings. Throws a SyntaxError. */
export function parseProgress(text: string): unknown {
  return JSON.parse(text.replace(STRING_OR_NO_NUMBER, (found) => (found.startsWith('"') ? found : `"${found}"`)));
}

/** Undefined when it contains none of these. Other fields are ignored. */
export function readMark(said: unknown, complain: Complain): Mark | undefined {
  const fields = new Map<string, unknown>(Object.entries(objectOf(said) ?? {}));
  const step = taken(fields.get("step"), wholeNumber, '"step" is not a whole number', complain);
  const checkpoint = taken(fields.get("checkpoint"), someText, '"checkpoint" is not a path or an address', complain);
  const named = taken(fields.get("metrics"), objectOf, '"metrics" is not an object of numbers by name', complain);
  const metrics = Object.entries(named ?? {}).flatMap(([name, value]) => metric(name, value, complain));
  return step === undefined && checkpoint === undefined && metrics.length === 0
    ? undefined
    : { step, checkpoint, metrics };
}

export function excerpt(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function taken<T>(
  said: unknown,
  read: (value: unknown) => T | undefined,
  trouble: string,
  complain: Complain,
): T | undefined {
  const value = read(said);
  if (value === undefined && said !== undefined) complain(`${trouble}: ${excerpt(JSON.stringify(said))}`);
  return value;
}

function metric(name: string, value: unknown, complain: Complain): [name: string, value: number][] {
  const which = `The metric ${excerpt(JSON.stringify(name))} is not kept`;
  const number = metricValue(value);
  if (!METRIC_NAME.test(name)) complain(`${which}: a name has 1 to 64 characters and no spaces.`);
  else if (number === undefined) complain(`${which} where it is not a number.`);
  else return [[name, number]];
  return [];
}

/** JavaScript writes NaN as null. */
function metricValue(value: unknown): number | undefined {
  if (value === null) return Number.NaN;
  if (typeof value === "number") return value;
  return typeof value === "string" && /^-?(NaN|Infinity)$/.test(value) ? Number(value) : undefined;
}

function wholeNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function someText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function objectOf(value: unknown): object | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}

import { type Parameters, variableOf } from "./space.ts";

/** What a trial of a search is told: its number, and its parameters all together and one by one. */
export function trialVariables({
  number,
  parameters,
}: {
  readonly number: number;
  readonly parameters: Parameters;
}): Readonly<Record<string, string>> {
  const each = Object.entries(parameters).map(([name, value]) => [variableOf(name), String(value)]);
  return {
    TONY_TRIAL_NUMBER: String(number),
    TONY_TRIAL_PARAMS: JSON.stringify(parameters),
    ...Object.fromEntries(each),
  };
}

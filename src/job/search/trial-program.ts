import { shellWords } from "../shell-words.ts";
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

/**
 * A role's command as one trial runs it: `{{param.lr}}` becomes the trial's value as one word, and nothing where it has none. An option of no value
 * goes with it: of `--lr={{param.lr}}` nothing is left.
 */
export function fillCommand(command: string, parameters: Parameters): string {
  const asked = command.replace(/(?<=^|\s)-[\w.-]+=\{\{param\.([^{}]*)\}\}(?=\s|$)/g, (option, name: string) =>
    parameters[name] === undefined ? "" : option,
  );
  return asked.replace(/\{\{param\.([^{}]*)\}\}/g, (_, name: string) => {
    const value = parameters[name];
    return value === undefined ? "" : shellWords([String(value)]);
  });
}

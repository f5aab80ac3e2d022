import { shellWords } from "../shell-words.ts";
import { type Parameters, variableOf } from "./space.ts";

/** The variables of a trial: its number, and its parameters together and one by one. */
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
 * A role's command for one trial: `{{param.lr}}` becomes the trial's value as one word, and disappears where the trial has none. An option without
 * its value disappears too: nothing is left of `--lr={{param.lr}}`.
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

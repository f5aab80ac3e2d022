import { shellWords } from "../shell-words.ts";
import type { Parameters } from "./space.ts";

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

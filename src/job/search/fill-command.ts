import { shellWords } from "../shell-words.ts";
import type { Parameters } from "./space.ts";

/** A role's command as one trial runs it: `{{param.lr}}` becomes the trial's value as one word, and nothing where it has none. */
export function fillCommand(command: string, parameters: Parameters): string {
  return command.replace(/\{\{param\.([^{}]*)\}\}/g, (_, name: string) => {
    const value = parameters[name];
    return value === undefined ? "" : shellWords([String(value)]);
  });
}

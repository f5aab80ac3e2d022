import { valuedOptions } from "../command-line/tony-arguments.ts";
import type { MigrationRemark } from "../printed-json.ts";
import type { ShellWord } from "./shell-words.ts";

/** One of TonY's options with its value, or a word that is not an option. */
export interface GivenOption {
  /** Empty: not an option. */
  readonly name: string;
  /** Its value without quotes. */
  readonly text: string;
  /** The value as it was written. */
  readonly value: string;
  /** The whole option as it was typed. */
  readonly typed: string;
  readonly at: string;
}

/** What to type in place of an option, and the remark about it. */
export interface MigratedOption {
  readonly typed: readonly string[];
  readonly remark: readonly MigrationRemark[];
}

/** Java's GNU parser takes the next word as an option's value, whatever it looks like. */
export function readOptions(words: readonly ShellWord[], file: string): GivenOption[] {
  const options: GivenOption[] = [];
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const at = `${file}:${word.line}`;
    const [, name = "", inline] = /^--?([a-z_]+)(?:=([\s\S]*))?$/.exec(word.text) ?? [];
    const next = valuedOptions.has(name) && inline === undefined ? left.shift() : undefined;
    const value = next?.written ?? word.written.replace(/^[^=]*=?/, "");
    const typed = next === undefined ? word.written : `${word.written} ${next.written}`;
    options.push({ name, text: next?.text ?? inline ?? "", value, typed, at });
  }
  return options;
}

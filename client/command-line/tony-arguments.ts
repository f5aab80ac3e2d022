/**
 * TonY's command line was parsed by Java's GNU parser, which accepts a long option with one dash or two and takes the next word as its
 * value, whatever it looks like. This file rewrites such words into the one form that our parser reads: `-executes` → `--executes=…`,
 * and `-detach` → `--detach`, which a parser of short options would take for six of them, `-h` included.
 */

/** TonY's options that take a value. */
export const valuedOptions: ReadonlySet<string> = new Set([
  "conf",
  "conf_file",
  "executes",
  "task_params",
  "src_dir",
  "python_venv",
  "python_binary_path",
  "shell_env",
  "container_env",
  "hdfs_classpath",
  "sidecar_tensorboard_log_dir",
]);
/** TonY's options without one. */
const flags = new Set(["debug", "help"]);

/** One dash, and a name of more than one letter. */
const longOption = /^-[a-z][a-z_-]+(=[\s\S]*)?$/;

/**
 * The arguments with long options written with two dashes, and TonY's as `--name=value` or `--name`. An option without its value stays
 * without one, for the parser to refuse; everything after `--` and all other words stay as they are.
 */
export function fromTonyArguments(words: readonly string[]): string[] {
  const result: string[] = [];
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (word === "--") return [...result, word, ...left];
    const [, name, inline] = /^--?([a-z_]+)(=[\s\S]*)?$/.exec(word) ?? [];
    if (name !== undefined && flags.has(name) && inline === undefined) result.push(`--${name}`);
    else if (name === undefined || !valuedOptions.has(name)) result.push(longOption.test(word) ? `-${word}` : word);
    else result.push(`--${name}${inline ?? nextValue(left)}`);
  }
  return result;
}

/** The next word, unless it is itself an option of TonY's. */
function nextValue(left: string[]): string {
  const [next] = left;
  const name = /^--?([a-z_]+)$/.exec(next ?? "")?.[1];
  if (next === undefined || (name !== undefined && (valuedOptions.has(name) || flags.has(name)))) return "";
  left.shift();
  return `=${next}`;
}

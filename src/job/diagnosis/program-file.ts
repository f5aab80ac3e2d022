const INTERPRETER = /^(?:python[\d.]*|bash|sh)$/;
/** With options that have values before the script. */
const LAUNCHED = /^(?:torchrun|deepspeed|accelerate launch)\s(?:.*?\s)??(\S+\.py)(?:\s|$)/;
/** Options of interpreters that take no value: what follows is still the script. */
const PLAIN_OPTION = /^-[uBEsSIOex]+$/;
/** A word that the shell takes as it is. */
const PLAIN_WORD = /^[\w./+@%:,=-]+$/;

/**
 * The file that a command runs, as a path in the container's working directory: `train.py` of `python3 -u train.py --steps 3`, `x` of
 * `./x`. Undefined where that is not certain: an absolute path, a module, a program of the node's, whatever a shell would make of it.
 */
export function programFileOf(command: string): string | undefined {
  const words = command
    .replace(/^\s*set\s[^;\n&]*[;\n]/, "")
    .trim()
    .split(/\s+/);
  const [program = "", ...others] = words.slice(words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word)));
  const isScript = INTERPRETER.test(program.slice(program.lastIndexOf("/") + 1));
  const file = isScript ? others.find((word) => !PLAIN_OPTION.test(word)) : program;
  return file !== undefined && (isScript || file.includes("/")) ? inWorkingDirectory(file) : undefined;
}

/** The script that a launcher of several processes is given. */
export function launchedFileOf(command: string): string | undefined {
  const [, file] = LAUNCHED.exec(command) ?? [];
  return file === undefined ? undefined : inWorkingDirectory(file);
}

/** `./src//train.py` → `src/train.py`; undefined for what may lie elsewhere. */
function inWorkingDirectory(file: string): string | undefined {
  const parts = file.split("/").filter((part) => part !== "" && part !== ".");
  const mayLieElsewhere = /^[-/]/.test(file) || parts.includes("..");
  return PLAIN_WORD.test(file) && !mayLieElsewhere ? parts.join("/") : undefined;
}

/** `train.py` of `src/train.py` and a folder `…/src`, whose content travels without its name; undefined for a path that begins otherwise. */
export function pathInside(file: string, folder: string): string | undefined {
  const name = folder.replace(/\/+$/, "").split("/").at(-1) ?? "";
  const plain = file.replace(/^(?:\.\/)+/, "");
  if (name === "" || name.startsWith(".") || !plain.startsWith(`${name}/`)) return undefined;
  return plain.slice(name.length + 1);
}

/** What brings a file to the tasks of a role. */
export function shippingWords(role: string): string {
  return `tony.containers.resources, tony.${role}.resources or --src_dir`;
}

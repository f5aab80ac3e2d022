const INTERPRETER = /^(?:python[\d.]*|bash|sh)$/;
/** Also with options that have values before the script. */
const LAUNCHED = /^(?:torchrun|deepspeed|accelerate launch)\s(?:.*?\s)??(\S+\.py)(?:\s|$)/;
const PYTHON = /^(?:\S*\/)?python[\d.]*$/;
const MODULE = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/;
/** A whole script as one word, which does not contain its own quote. */
const NESTED =
  /^\s*(?:[A-Za-z_]\w*=[\w./:-]*\s+)*(?:exec\s+)?(?:\S*\/)?(?:ba|da)?sh\s+(?:-[a-z]+\s+)*?-[a-z]*c\s+(['"])((?:(?!\1)[^\\])*)\1\s*$/;
/** Words before a program: variables, and `exec`. */
const ASSIGNED = /^(?:[A-Za-z_]\w*=\S*|exec)$/;
const PATH = /^(?:\.\/)*[A-Za-z_][\w.+-]*(?:\/[\w./+@=-]*|\.[A-Za-z]\w*)$/;
/** Options that name something which the program writes. */
const WRITTEN = /out|save|log|write|dump|export|dest|target|result|checkpoint|ckpt|tmp|temp|cache|work|model|to$/i;
/** Options of interpreters without a value: the script still follows. */
const PLAIN_OPTION = /^-[uBEsSIOex]+$/;
/** A word that the shell does not change. */
const PLAIN_WORD = /^[\w./+@%:,=-]+$/;

/**
 * The file that a command runs, as a path in the container's working directory: `train.py` for `python3 -u train.py --steps 3`, `x`
 * for `./x`. Undefined where that is uncertain: an absolute path, a module, a program of the node's, anything that a shell would
 * expand.
 */
export function programFileOf(command: string): string | undefined {
  const [program = "", ...others] = wordsOf(command);
  const isScript = INTERPRETER.test(program.slice(program.lastIndexOf("/") + 1));
  const file = isScript ? others.find((word) => !PLAIN_OPTION.test(word)) : program;
  return file !== undefined && (isScript || file.includes("/")) ? inWorkingDirectory(file) : undefined;
}

/** The script in the arguments of a launcher of several processes. */
export function launchedFileOf(command: string): string | undefined {
  const [, file] = LAUNCHED.exec(innermost(command)) ?? [];
  return file === undefined ? undefined : inWorkingDirectory(file);
}

/** The module that a command runs: `train` for `python3 -u -m train --steps 3`. */
export function moduleOf(command: string): string | undefined {
  const [program = "", ...others] = wordsOf(command);
  const at = others.findIndex((word) => !PLAIN_OPTION.test(word));
  const name = others[at] === "-m" ? others[at + 1] : undefined;
  return PYTHON.test(program) && name !== undefined && MODULE.test(name) ? name : undefined;
}

/**
 * The relative paths in the arguments of the program that a command runs, which the program may read: those whose option's name does not
 * suggest output. `data/a` and `config.yaml` for `python3 train.py --data data/a --config=config.yaml --out out/`
 */
export function readPathsOf(command: string): string[] {
  const [, ...words] = wordsOf(/^[^;&|<>()`\n]*/.exec(innermost(command))?.[0] ?? "");
  return words.flatMap((word, index) => {
    const [, option = words[index - 1] ?? "", value = word] = /^(--?[\w-]+)=(.*)$/.exec(word) ?? [];
    const path =
      PATH.test(value) && !(option.startsWith("-") && WRITTEN.test(option)) ? inWorkingDirectory(value) : undefined;
    return path === undefined ? [] : [path];
  });
}

/** The words of the command that its first shell starts, without variables set for it. */
function wordsOf(command: string): string[] {
  const words = innermost(command)
    .replace(/^\s*set\s[^;\n&]*[;\n]/, "")
    .trim()
    .split(/\s+/);
  return words.slice(words.findIndex((word) => !ASSIGNED.test(word)));
}

/** `python3 train.py` for `bash -c 'python3 train.py'`; any other command unchanged. */
function innermost(command: string): string {
  const [, , script] = NESTED.exec(command) ?? [];
  return script === undefined ? command : innermost(script);
}

/** `./src//train.py` → `src/train.py`; undefined for a path that may lead elsewhere. */
function inWorkingDirectory(file: string): string | undefined {
  const parts = file.split("/").filter((part) => part !== "" && part !== ".");
  const mayLieElsewhere = /^[-/]/.test(file) || parts.includes("..");
  return PLAIN_WORD.test(file) && !mayLieElsewhere ? parts.join("/") : undefined;
}

/**
 * `train.py` for `src/train.py` and a folder `…/src`, whose content is sent without the folder's name; undefined for a path that begins
 * differently.
 */
export function pathInside(file: string, folder: string): string | undefined {
  const name = folder.replace(/\/+$/, "").split("/").at(-1) ?? "";
  const plain = file.replace(/^(?:\.\/)+/, "");
  if (name === "" || name.startsWith(".") || !plain.startsWith(`${name}/`)) return undefined;
  return plain.slice(name.length + 1);
}

/** How to send a file to the tasks of a role. */
export function shippingWords(role: string): string {
  return `tony.containers.resources, tony.${role}.resources or --src_dir`;
}

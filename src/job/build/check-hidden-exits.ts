import { type Hidden, type HiddenExit, hiddenExit, wantsPipefailOfSh } from "../diagnosis/hidden-exit.ts";
import { keyFor } from "../keys.ts";
import type { RoleSpec } from "../spec.ts";
import type { JobReader } from "./job-reader.ts";

const PIPEFAIL = "tony.task.pipefail";

/** The effect of each form, and how to keep the program's exit code. */
const words: Readonly<Record<HiddenExit, string>> = {
  pipe: `ends with the exit code of the last command of its pipe: begin it with "set -o pipefail;", or set ${PIPEFAIL} = true`,
  sequence:
    'goes on after a program that failed and ends with the exit code of its last command: begin it with "set -e;"',
  unstopped:
    "goes on after a program that failed: set -e has no effect in conditions, before && and ||, and in $(…): let the program stand by itself",
  or: "takes another command's exit code where its program fails (||): let that one end with exit 1",
  background: "does not wait for a program in the background (&): end it with wait and that program's process id",
  beside:
    "runs a program in the background (&) of another one, whose exit code alone counts: wait for each by its process id (wait $!), or end it with kill $! where it only serves the other",
  ampersand:
    "writes &> in sh, which dash (sh of Debian and Ubuntu) takes for a program in the background: write > FILE 2>&1",
  substitution: "runs a program inside another command, whose exit code it takes: run the program by itself",
  find: "runs it by find -exec … ;, which ends with 0 all the same: end -exec with + in place of ;, or let xargs run it",
  recorded: "runs it by script -c, which ends with 0 all the same: give script -e as well",
  condition: "takes its program's exit code for a condition: end the other branch with exit 1",
  negation: "turns its program's exit code around (!): remove the !",
  trap: "ends with exit 0 in a trap: remove that exit",
  loop: 'runs a program in a loop and ends with the last run\'s exit code: begin it with "set -e;"',
};

/** The remedy where it happens in a nested shell, which a `set` in front does not affect; sh may not know pipefail. */
const mendsInside: Partial<Readonly<Record<HiddenExit, (shell: string) => string>>> = {
  pipe: (shell) =>
    `ends with the exit code of the last command of a pipe in ${shell} -c: write bash -o pipefail -c in its place`,
  sequence: (shell) => `goes on in ${shell} -c after a program that failed: write ${shell} -ec in its place`,
  loop: (shell) => `runs a program in a loop of ${shell} -c, whose last run counts: write ${shell} -ec in its place`,
};

/** Warns of commands that exit with 0 although their program has failed: the job would succeed. */
export function checkHiddenExits(reader: JobReader, roles: readonly RoleSpec[]): void {
  const pipefail = reader.read(PIPEFAIL);
  const warned = new Set<string>();
  for (const { name: role, command } of roles) {
    const own = keyFor("tony.{role}.command", { role });
    const key = reader.settings.has(own) ? own : "tony.containers.command";
    if (warned.has(key)) continue;
    warned.add(key);
    if (wantsPipefailOfSh(command)) {
      reader.warn(
        key,
        "sets pipefail in sh, which dash (sh of Debian and Ubuntu) may not know, and then ends at once: write bash in place of sh",
      );
    }
    const hidden = hiddenExit(command, { pipefail });
    if (hidden === undefined) continue;
    const said = isTurnedOff(command, hidden) ? STOPS_NOT : wordsOf(hidden);
    reader.warn(key, `hides a program's failure, and the task would count as succeeded: it ${said}`);
  }
}

const STOPS_NOT =
  "goes on after a program that failed, as it says set +e: remove that, or end with the program's exit code (code=$?; …; exit $code)";

/** Whether `set -e` at the beginning would have no effect. */
function isTurnedOff(command: string, { hidden, inside }: Hidden): boolean {
  const isSequence = hidden === "sequence" || hidden === "unstopped" || hidden === "loop";
  return isSequence && inside === undefined && /\bset[ \t]+(?:\+\w*e|\+o[ \t]+errexit)\b/.test(command);
}

function wordsOf({ hidden, inside, isRead }: Hidden): string {
  if (isRead) return `has ${inside} read commands: what it reads ${words[hidden]}`;
  return (inside === undefined ? undefined : mendsInside[hidden]?.(inside)) ?? words[hidden];
}

/** The command with pipefail in front, so that a failure in any part of a pipe counts, where the job requests that. */
export function withPipefail(reader: JobReader, role: RoleSpec): RoleSpec {
  return reader.read(PIPEFAIL) ? { ...role, command: `set -o pipefail\n${role.command}` } : role;
}

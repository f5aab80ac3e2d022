import { within } from "../../src/hadoop/clock.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { Applications } from "../applications/applications.ts";
import { isLocalId } from "../applications/local-folder.ts";
import type { ClientContext } from "../context.ts";

/** How a shell asks for the words that can follow: `tony-ts --get-yargs-completions tony-ts logs ''`. */
export const completionWord = "--get-yargs-completions";

/** Nobody waits longer after pressing Tab. */
const patienceMs = 2_000;
const mostTasks = 100;

/** Verbs whose first argument is a job's id. */
const aboutJobs: readonly string[] = [
  ...[
    "status",
    "logs",
    "attach",
    "wait",
    "kill",
    "get",
    "series",
    "stacks",
    "kv",
    "exec",
    "shell",
    "forward",
    "tensorboard",
    "page",
  ],
];
/** Those of them whose second argument is a task. */
const aboutTasks: readonly string[] = ["logs", "get", "series", "stacks", "exec", "shell", "forward"];
/** Verbs whose first argument is a file, which the shell itself completes. */
const aboutFiles: readonly string[] = ["submit", "validate", "search", "migrate"];

/**
 * The jobs, a job's tasks, or the keys that fit at the cursor; undefined where the parser knows more, as it does of commands and options.
 * Any failure gives no words.
 */
export async function completions(words: readonly string[], context: ClientContext): Promise<string[] | undefined> {
  const [asked, , verb = "", ...typed] = words;
  const current = typed.at(-1);
  if (asked !== completionWord || current === undefined || current.startsWith("-")) return undefined;
  const before = typed.slice(0, -1).filter((word) => !word.startsWith("-"));
  if (verb === "keys" && before.length === 0) return await keyNames();
  if (aboutFiles.includes(verb) && before.length === 0) return [];
  if (!aboutJobs.includes(verb)) return undefined;
  const [id] = before;
  if (id === undefined || verb === "kill") return await soon(runningJobs(context), context);
  return aboutTasks.includes(verb) && before.length === 1 ? await soon(tasksOf(id, context), context) : [];
}

/** The script that connects a shell's completion with this. */
export function completionScript(shell: "bash" | "zsh"): string {
  return shell === "zsh" ? zsh : bash;
}

/** Every key that has a name of its own; a role's keys with `worker` as the role. */
async function keyNames(): Promise<string[]> {
  const { keys } = await import("../../src/job/keys.ts");
  const names = Object.keys(keys).map((name) => name.replace("{role}", "worker"));
  return names.filter((name) => !name.includes("{"));
}

async function soon(words: Promise<string[]>, { environment }: ClientContext): Promise<string[]> {
  let found: string[] = [];
  const looking = words.then((all) => {
    found = all;
  });
  await within(patienceMs, looking).catch(() => false);
  // zsh takes what follows a colon for a description.
  return environment.SHELL?.endsWith("zsh") ? found.map((word) => word.replaceAll(":", "\\:")) : found;
}

async function runningJobs(context: ClientContext): Promise<string[]> {
  const { openLocalApplications, openYarnApplications } = await import("../applications/backend.ts");
  const here = idsOf(openLocalApplications(context));
  const there = idsOf(openYarnApplications(undefined, context));
  return [...(await here.catch(() => [])), ...(await there.catch(() => []))];
}

async function idsOf(opening: Promise<Applications>): Promise<string[]> {
  const { chooseJobs, ownJobs } = await import("../applications/job-filter.ts");
  const applications = await opening;
  try {
    return (await chooseJobs(applications, ownJobs)).map(({ id }: ApplicationReport) => id);
  } finally {
    applications.close();
  }
}

async function tasksOf(id: string, context: ClientContext): Promise<string[]> {
  const { openLocalApplications, openYarnApplications } = await import("../applications/backend.ts");
  const { inspect } = await import("../master/inspection.ts");
  const { connectMaster } = await import("../master/master-connection.ts");
  const applications = isLocalId(id)
    ? await openLocalApplications(context)
    : await openYarnApplications(undefined, context);
  try {
    const { status } = await inspect(id, applications, connectMaster);
    const roles = status?.roles.map(({ name }) => name) ?? [];
    const tasks = (status?.tasks ?? []).slice(0, mostTasks).map(({ task }) => task);
    const { shownNameInTrial } = await import("../../src/job/search/trial-tasks.ts");
    const trials = status === undefined ? [] : tasks.map((task) => shownNameInTrial(status, task)?.split("/")[0]);
    return ["am", ...roles, ...tasks, ...new Set(trials.flatMap((trial) => trial ?? []))];
  } finally {
    applications.close();
  }
}

/** The words are taken from the line itself: bash would split `worker:0` at its colon, and completes only what follows the last colon. */
const bash = `_tony_ts()
{
    local line="\${COMP_LINE:0:COMP_POINT}" words current
    IFS=$' \\t' read -ra words <<< "$line"
    [[ "$line" == *[[:space:]] ]] && words+=("")
    current="\${words[-1]}"
    mapfile -t COMPREPLY < <(compgen -W "$(tony-ts ${completionWord} "\${words[@]}" 2> /dev/null)" -- "$current")
    if [[ "$current" == *:* && "$COMP_WORDBREAKS" == *:* ]]; then
        COMPREPLY=("\${COMPREPLY[@]#"\${current%"\${current##*:}"}"}")
    fi
}
complete -o bashdefault -o default -F _tony_ts tony-ts`;

const zsh = `#compdef tony-ts
_tony_ts()
{
    local reply
    reply=("\${(@f)$(SHELL=zsh tony-ts ${completionWord} "\${words[@]}" 2> /dev/null)}")
    if [[ -n "$reply" ]]; then
        _describe 'values' reply
    else
        _default
    fi
}
compdef _tony_ts tony-ts`;

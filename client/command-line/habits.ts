/** What people type out of habit from other tools: TonY's portal, Hadoop, Skein, Slurm, kubectl and Docker (docs/guide/coming-from.md). */
const ofOthers: ReadonlyMap<string, string> = new Map([
  ...["history", "sacct"].map((verb) => [verb, "list --all"] as const),
  ...["jobs", "ls", "ps", "queue", "squeue", "apps", "applications"].map((verb) => [verb, "list"] as const),
  ...["describe", "show", "info", "report"].map((verb) => [verb, "status ID"] as const),
  ...["delete", "cancel", "stop", "rm", "end", "scancel"].map((verb) => [verb, "kill ID"] as const),
  ...["run", "apply", "start", "create", "sbatch", "srun"].map((verb) => [verb, "submit job.xml"] as const),
  ...["follow", "watch", "sattach"].map((verb) => [verb, "attach ID"] as const),
  ...["cp", "copy", "download", "fetch", "results"].map((verb) => [verb, "get ID"] as const),
  ...["check", "lint", "test"].map((verb) => [verb, "validate job.xml"] as const),
  ...["port-forward", "proxy"].map((verb) => [verb, "forward ID worker:0 8080"] as const),
  ["ssh", "shell ID worker:0"],
  ["tail", "logs ID -f"],
  ["convert", "migrate job.xml"],
  ["sinfo", "nodes"],
  ["config", "doctor"],
]);

/** `yarn application -kill ID`, `skein application kill ID`: the noun is dropped, and the action has a verb. */
const nouns: ReadonlySet<string> = new Set(["application", "app", "job"]);
const ofApplications: ReadonlyMap<string, string> = new Map([
  ["list", "list"],
  ["ls", "list"],
  ["status", "status ID"],
  ["describe", "status ID"],
  ["kill", "kill ID"],
  ["stop", "kill ID"],
  ["logs", "logs ID"],
  ["submit", "submit job.xml"],
  ["run", "submit job.xml"],
]);

const idIn = (word: string) => /(application|local)_\d+_\d+$/.exec(word)?.[0];

/** What to type instead of a command that does not exist; undefined: no common habit. */
export function meantByHabit(verb: string, words: readonly string[]): string | undefined {
  const actions = nouns.has(verb) ? words.flatMap((word) => ofApplications.get(word.replace(/^-+/, "")) ?? []) : [];
  const meant = actions[0] ?? (nouns.has(verb) ? "list" : ofOthers.get(verb));
  if (meant === undefined) return undefined;
  const all = meant === "list" && words.some((word) => /^(ALL|--?all)$/.test(word)) ? " --all" : "";
  const [id = "ID"] = words.flatMap((word) => idIn(word) ?? []);
  return `${meant.replace(/\bID\b/, id)}${all}`;
}

/** The option that gives a job's id to another tool, as in `yarn logs -applicationId ID`. */
export function idByOption(
  words: readonly string[],
  known: readonly string[],
): { readonly option: string; readonly id: string } | undefined {
  for (const [index, word] of words.entries()) {
    const id = idIn(word);
    const option = word.startsWith("-") ? word.split("=")[0] : words[index - 1];
    if (id === undefined || !option?.startsWith("-") || known.includes(option.replace(/^--?/, ""))) continue;
    return { option, id };
  }
  return undefined;
}

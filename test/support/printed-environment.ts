/** A command that prints its environment in one line, to be read by {@link printedEnvironments}. */
export const printEnvironment = `python3 -c 'import json, os; print("ENV " + json.dumps(dict(os.environ)), flush=True)'`;

/** What each task's {@link printEnvironment} printed, by task, as `--logs all` shows it. A task that printed several has its last. */
export function printedEnvironments(out: string): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const found = out.matchAll(/^(\w+:\d+) +\| ENV (.*)$/gm);
  return Object.fromEntries(Array.from(found, ([, task = "", json = ""]) => [task, JSON.parse(json)]));
}

import { readdirSync, readFileSync } from "node:fs";
import { SPLIT } from "../am/core/feeds/split-moves.ts";
import { CONTAINER, LINK } from "../am/core/state/container-moves.ts";
import { GANG } from "../am/core/state/gang-moves.ts";
import { ENDING, JOB } from "../am/core/state/job-moves.ts";
import { TASK } from "../am/core/state/task-moves.ts";
import { VERDICT } from "../am/core/state/verdict-moves.ts";
import { MANAGER } from "../am/scheduler/yarn/manager-link.ts";
import { ISOLATION } from "../executor/core/isolation-moves.ts";
import { CONNECTION } from "../executor/core/link-moves.ts";
import type { Machine, Row } from "../src/moves.ts";

/** The tables, each with its subject. */
export const machines: readonly (readonly [Machine<string, string>, string, string])[] = [
  [JOB, "am/core/state/job-moves.ts", "The job as a whole, as its ApplicationMaster sees it."],
  [ENDING, "am/core/state/job-moves.ts", "The steps in which a job that is `finishing` ends."],
  [GANG, "am/core/state/gang-moves.ts", "Roles that are requested, start, fail and restart together."],
  [TASK, "am/core/state/task-moves.ts", "A task's life in its generation."],
  [
    VERDICT,
    "am/core/state/verdict-moves.ts",
    "The decision about what ended a generation, or the life of a task that restarts alone.",
  ],
  [CONTAINER, "am/core/state/container-moves.ts", "Which task has a container, until YARN says that it is over."],
  [LINK, "am/core/state/container-moves.ts", "The connection to the executor in a container."],
  [SPLIT, "am/core/feeds/split-moves.ts", "A part of a feed's files in an epoch."],
  [MANAGER, "am/scheduler/yarn/manager-link.ts", "The relation of this attempt to YARN's ResourceManager."],
  [CONNECTION, "executor/core/link-moves.ts", "An executor's connection to the ApplicationMaster."],
  [
    ISOLATION,
    "executor/core/isolation-moves.ts",
    "What an executor does when it reaches nobody and cannot know whether its task has moved.",
  ],
];

const HEAD = `# States

\`npm run docs\` generates this page from tables in \`am/\` and \`executor/core/\`; edit them there.

One function per table changes the phase. Its caller says what happened (*on*); the table says which phase follows, and names the function
in which this happens.

- *In the journal*: "yes" means that a snapshot of the state is written soon, so that a later attempt knows about the move. A move without it is in the
  next snapshot that another move causes, or a later attempt learns what it needs from YARN and the executors. The move itself waits for no snapshot. The
  effects that do wait are \`Held\` in \`am/core/state/state.ts\`: preparing another generation, the start of a gang or task, the stop of a trial, the stop of
  a task or stage that is done, the job's end, and the outcome of an upload. A feed has its own journal: its answers to tasks wait for that.
- *Ignored*: the move also occurs in these phases, and changes nothing.
- A move without a row changes nothing and is logged as \`defect\`: by the ApplicationMaster's core once for each table, move and phase
  (\`am/core/state/machine.ts\`); in tests and in the simulation it throws. In an executor's core the simulation fails on that line. A split ignores
  the move.

For example, the node of \`worker:1\` is lost while its gang restarts:

- its old program was still \`stopping\`: \`container-lost\` makes the task \`lost\`, or \`stop-overdue\` if its time to stop is over first. Once the next
  generation is open \`renewed-without-container\` makes it \`waiting\`: another container is requested. The loss of the node is evidence in the verdict, if
  that is still open.
- it was preparing for the next generation (\`allocated\` to \`registered\`): \`container-replaced\` makes it \`waiting\`. Nothing had started, so no
  generation ends. The loss is evidence if an open verdict waits for that container; otherwise the node is blamed, unless it was decommissioned
  (\`judgeReplaced\` in \`am/core/failures/losses.ts\`), and after too many failures of the task's machines the job fails (\`tony.failure.blame.job\`; \`cannotStart\` there), or only the trial where trials are gangs; a sidecar is given up.
- its program had ended: nothing moves at once; the loss of the node is evidence as long as the verdict waits for that container. Once the next generation
  is open the task is \`waiting\`, as above.

In the table of tasks \`start-adopted\` is for a task that starts alone, \`started-by-another\` for a member of a gang.
`;

/** The page with every table. */
export function statesPage(): string {
  return [HEAD, ...machines.map(([machine, file, words]) => section(machine, file, words))].join("\n");
}

/** Where a row's function may be: the text of each source, by its path below the working directory, which is the project's root. */
const sources = new Map(
  ["am", "executor"].flatMap((program) =>
    readdirSync(program, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => [`${program}/${name}`, readFileSync(`${program}/${name}`, "utf8")] as const),
  ),
);

/** The files in the table's room with a function of that name that makes this move. */
export function filesOf({ on, does }: Pick<Row<string>, "on" | "does">, table: string): string[] {
  const room = table.split("/", 2).join("/");
  const definition = new RegExp(
    `^(?:(?:export )?(?:async )?function ${does}\\(| {2}(?:async )?#?${does}\\([^;\n]*$)`,
    "m",
  );
  return [...sources]
    .filter(([file, text]) => file.startsWith(`${room}/`) && definition.test(text) && text.includes(`"${on}"`))
    .map(([file]) => file);
}

function section(machine: Machine<string, string>, file: string, words: string): string {
  const { name, phases, groups, rows } = machine;
  return [
    `## ${name[0]?.toUpperCase()}${name.slice(1)}`,
    "",
    `${words} The table is in \`${file}\`.`,
    "",
    "| phase | |",
    "| --- | --- |",
    ...Object.entries(phases).map(([phase, meaning]) => `| \`${phase}\` | ${meaning} |`),
    ...Object.entries(groups).map(([group, of]) => `| ${group} | ${of.map((one) => `\`${one}\``).join(", ")} |`),
    "",
    "```mermaid",
    "stateDiagram-v2",
    ...diagram(machine),
    "```",
    "",
    "| on | from | to | in the journal | in |",
    "| --- | --- | --- | --- | --- |",
    ...rows.map((row) => line(machine, row, file)),
    "",
  ].join("\n");
}

function line(machine: Machine<string, string>, row: Row<string>, table: string): string {
  const to = row.to === "ignored" ? "*ignored*" : `\`${row.to}\``;
  const from = shortened(machine, row.from).map((one) => (one in machine.groups ? one : `\`${one}\``));
  return `| \`${row.on}\` | ${from.join(", ")} | ${to} | ${row.durable ? "yes" : ""} | \`${row.does}\` in \`${filesOf(row, table).join("`, `")}\` |`;
}

/** One arrow from each phase, or group of phases, to another, with all causes of that move. */
function diagram(machine: Machine<string, string>): string[] {
  const arrows = new Map<string, string[]>();
  for (const row of machine.rows.filter(({ to }) => to !== "ignored")) {
    for (const from of shortened(machine, row.from)) {
      const arrow = `${nodeName(from)} --> ${nodeName(row.to)}`;
      arrows.set(arrow, [...(arrows.get(arrow) ?? []), row.on]);
    }
  }
  return [
    ...Object.keys(machine.phases).flatMap((phase) => (phase === nodeName(phase) ? [] : named(phase))),
    ...Object.entries(machine.groups).map(([name, phases]) => boxed(machine, name, phases)),
    ...[...arrows].map(([arrow, ons]) => `  ${arrow}: ${ons.join(", ")}`),
  ];
}

/** Quotes a name that Mermaid does not accept unquoted. */
function named(name: string): string {
  return `  state "${name}" as ${nodeName(name)}`;
}

function boxed({ groups }: Machine<string, string>, name: string, phases: readonly string[]): string {
  // A group within this one is a nested box.
  const inner = Object.entries(groups).filter(
    ([other, of]) => other !== name && of.every((one) => phases.includes(one)),
  );
  const names = [
    ...phases.filter((one) => !inner.some(([, of]) => of.includes(one))),
    ...inner.map(([other]) => other),
  ];
  return `${named(name)} {\n${names.map((one) => `    ${nodeName(one)}`).join("\n")}\n  }`;
}

/** The phases, with each complete group replaced by its name. */
function shortened({ groups }: Machine<string, string>, from: readonly string[]): string[] {
  const bySize = Object.entries(groups).sort(([, a], [, b]) => b.length - a.length);
  let left = from;
  const names: string[] = [];
  for (const [name, phases] of bySize) {
    if (phases.every((one) => left.includes(one))) {
      names.push(name);
      left = left.filter((one) => !phases.includes(one));
    }
  }
  return [...names, ...left];
}

function nodeName(name: string): string {
  return name.replaceAll(/[ -]/g, "_");
}

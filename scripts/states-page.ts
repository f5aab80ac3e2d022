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

/** The tables, each with what it is about. */
export const machines: readonly (readonly [Machine<string, string>, string, string])[] = [
  [JOB, "am/core/state/job-moves.ts", "What the ApplicationMaster is at, as a whole."],
  [ENDING, "am/core/state/job-moves.ts", "How far the ending of a job is that is `finishing`."],
  [GANG, "am/core/state/gang-moves.ts", "Roles that are asked for, start, fail and restart together."],
  [TASK, "am/core/state/task-moves.ts", "Where a task's life in its generation stands."],
  [VERDICT, "am/core/state/verdict-moves.ts", "What ended a generation, or the life of a task that lives on its own."],
  [CONTAINER, "am/core/state/container-moves.ts", "Whose a container is, until YARN says that it is over."],
  [LINK, "am/core/state/container-moves.ts", "How the executor in a container is reached."],
  [SPLIT, "am/core/feeds/split-moves.ts", "What becomes of a part of a feed's files in an epoch."],
  [MANAGER, "am/scheduler/yarn/manager-link.ts", "Where this attempt stands with YARN's ResourceManager."],
  [CONNECTION, "executor/core/link-moves.ts", "Where an executor stands with the ApplicationMaster."],
  [
    ISOLATION,
    "executor/core/isolation-moves.ts",
    "What an executor does that reaches nobody, of whose task it is not known where it lives.",
  ],
];

const HEAD = `# States

Made from tables in \`am/\` and \`executor/core/\` by \`npm run docs\`; edit them there.

Each thing below has one function that changes its phase. The caller says what happened; the table says which phase follows, and names the function
where it happens.

- *In the journal*: "yes" means that a snapshot of the state is written soon, so that a later attempt knows. A move without it is in the next snapshot that
  something else brings, or YARN and the executors tell a later attempt what it needs to know of it. The move itself waits for no snapshot. What does wait
  is \`Held\` in \`am/core/state/state.ts\`: making ready for another generation, the start of a gang or task, the stop of a trial, the stop of a task or stage
  that is done, the job's end, and files that are still on their way. A feed has a journal of its own: its answers to tasks wait for that.
- *Ignored*: it comes in these phases as well, and changes nothing.
- A move that is in no row changes nothing and is logged as \`defect\`: by the ApplicationMaster's core once for each table, move and phase
  (\`am/core/state/machine.ts\`), where it throws in tests and in the simulation. In an executor's core the simulation fails on that line. A split ignores
  the move.

For example, the node of \`worker:1\` is lost while its gang restarts:

- its old program was still \`stopping\`: \`container-lost\` makes it \`lost\`, or \`stop-overdue\` if its time to stop is over first. Once the next
  generation is open \`renewed-without-container\` makes it \`waiting\`: another container is asked for. What ended the node is evidence in the verdict, if
  that is still open.
- it was making ready for the next generation (\`allocated\` to \`registered\`): \`container-replaced\` makes it \`waiting\`. Nothing had started, so no
  generation ends. The loss is evidence where an open verdict waits for that container; otherwise the node is blamed, unless it was taken out of
  the cluster (\`judgeReplaced\` in \`am/core/failures/losses.ts\`), and after too many failures of the task's machines the job fails (\`tony.failure.blame.job\`).
- its program had ended: nothing moves at once; the node's end is evidence as long as the verdict waits for that container. Once the next generation
  is open the task is \`waiting\`, as above.
`;

/** The page that shows every table. */
export function statesPage(): string {
  return [HEAD, ...machines.map(([machine, file, words]) => section(machine, file, words))].join("\n");
}

/** Where a row's function may be: the text of each source, by its path below the working directory, which is the project's. */
const sources = new Map(
  ["am", "executor"].flatMap((program) =>
    readdirSync(program, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => [`${program}/${name}`, readFileSync(`${program}/${name}`, "utf8")] as const),
  ),
);

/** The files of the table's room with a function of that name, which make this move. */
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

/** One arrow from each phase, or group of phases, to another, with all that leads there. */
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

/** A name that Mermaid does not take as it is. */
function named(name: string): string {
  return `  state "${name}" as ${nodeName(name)}`;
}

function boxed({ groups }: Machine<string, string>, name: string, phases: readonly string[]): string {
  // A group within this one is a box in its box.
  const inner = Object.entries(groups).filter(
    ([other, of]) => other !== name && of.every((one) => phases.includes(one)),
  );
  const names = [
    ...phases.filter((one) => !inner.some(([, of]) => of.includes(one))),
    ...inner.map(([other]) => other),
  ];
  return `${named(name)} {\n${names.map((one) => `    ${nodeName(one)}`).join("\n")}\n  }`;
}

/** The phases, with the name of each group that is there as a whole in place of its own. */
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

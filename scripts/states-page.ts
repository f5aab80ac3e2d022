import { CONTAINER, LINK } from "../am/core/state/container-moves.ts";
import { GANG } from "../am/core/state/gang-moves.ts";
import { ENDING, JOB } from "../am/core/state/job-moves.ts";
import { TASK } from "../am/core/state/task-moves.ts";
import { VERDICT } from "../am/core/state/verdict-moves.ts";
import { MANAGER } from "../am/scheduler/yarn/manager-link.ts";
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
  [MANAGER, "am/scheduler/yarn/manager-link.ts", "Where this attempt stands with YARN's ResourceManager."],
  [CONNECTION, "executor/core/link-moves.ts", "Where an executor stands with the ApplicationMaster."],
];

const HEAD = `# States

Made from tables in \`am/\` and \`executor/core/\` by \`npm run docs\`; edit them there.

What the ApplicationMaster, or an executor, keeps books of changes its phase in one function, which is told what happened and looks that up here. A row says: on
what, from which phases, to which; whether the journal holds it (a later attempt knows of it; of what the journal does not hold, YARN or the
executors tell it again); and in which function it happens. *Ignored*: it comes in these phases as well, and changes nothing. A move
that is in no row throws in tests and in the simulation; in production it is logged once as \`defect\` and changes nothing.

For example, the node of \`worker:1\` is lost while its gang restarts:

- its old program was still \`stopping\`: \`container-lost\` makes it \`lost\`, and once the next generation is open \`renewed-without-container\`
  makes it \`waiting\`: another container is asked for. What ended the node is evidence in the verdict that is open.
- it was making ready for the next generation (\`preparing\`, \`registered\`): \`container-replaced\` makes it \`waiting\`. Nothing had started, so no
  generation ends.
- its program had ended: nothing moves; the node's end is evidence only.
`;

/** The page that shows every table. */
export function statesPage(): string {
  return [HEAD, ...machines.map(([machine, file, words]) => section(machine, file, words))].join("\n");
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
    ...rows.map((row) => line(machine, row)),
    "",
  ].join("\n");
}

function line(machine: Machine<string, string>, row: Row<string>): string {
  const to = row.to === "ignored" ? "*ignored*" : `\`${row.to}\``;
  const from = shortened(machine, row.from).map((one) => (one in machine.groups ? one : `\`${one}\``));
  return `| \`${row.on}\` | ${from.join(", ")} | ${to} | ${row.durable ? "yes" : ""} | \`${row.does}\` |`;
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

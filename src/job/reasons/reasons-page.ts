import { advice } from "./advice.ts";
import { endingReasons } from "./endings.ts";
import type { FactKinds } from "./facts.ts";
import { masterReasons } from "./master.ts";
import { outcomeReasons } from "./outcomes.ts";
import type { ReasonTable } from "./reason.ts";
import { remedies } from "./remedies.ts";
import { delayReasons, waitReasons } from "./waits.ts";

/** All families of reasons, each with where it appears. */
export const families: readonly (readonly [string, string, ReasonTable])[] = [
  ["How a task failed", "`Cause.reason`, `Consequence.reason`", endingReasons],
  ["Why the AMs of an application failed, when YARN started no further one", "`Cause.reason`", masterReasons],
  ["Why a job ended", "`JobOutcome.reason`", outcomeReasons],
  ["What a job waits for", "`Wait.reason`", waitReasons],
  ["Why that is not there yet", "`Wait.delays`", delayReasons],
  ["What a person can do", "`Cause.fix`, `Wait.fix`", remedies],
  ["What earlier runs say about the next one", "`AdviceJson.advice`", advice],
];

const HEAD = `# Reasons

\`npm run docs\` generates this page from the tables in \`src/job/reasons/\`; edit them there.

Beside each sentence that says why something happened, \`--json\`, the kept status and the history have the same reason as data: an object with a
\`code\` and the facts of the sentence. Codes and facts are stable, sentences may change; new codes and facts may be added at any time. A fact with \`?\`
is absent if it is not known. Facts that end in \`Ms\` are milliseconds, in \`MiB\` mebibytes. A \`setting\` is an object: \`key\`, and \`at\`,
the place where the job sets it, if it does; a \`class\` is \`program\` or \`infrastructure\`. \`settings\` and \`names\` are lists.
`;

/** The page that lists every code. */
export function reasonsPage(): string {
  const sections = families.map(([title, found, table]) => {
    const rows = Object.entries(table).map(
      ([code, { facts, words }]) => `| \`${code}\` | ${factWords(facts)} | ${cell(words(examples(facts)))} |`,
    );
    return [`## ${title}\n\n${found}\n`, "| code | facts | for example |", "| --- | --- | --- |", ...rows, ""].join(
      "\n",
    );
  });
  return [HEAD, ...sections].join("\n");
}

function factWords(facts: FactKinds): string {
  return Object.entries(facts)
    .map(([name, kind]) => {
      const plain = nameOf(kind).replace("?", "");
      return `\`${name}${isOptional(kind) ? "?" : ""}\`${plain === "text" || plain === name ? "" : ` ${plain}`}`;
    })
    .join(", ");
}

const known: Readonly<Record<string, unknown>> = {
  task: "worker:0",
  host: "node-1",
  role: "worker",
  class: "program",
  setting: { key: "tony.some.key", at: "job.xml:16" },
  exitStatus: 1,
  exitCode: 1,
  times: 3,
  limit: "4 GiB",
  used: "4.13 GiB",
};

/** Only facts that cannot be unknown; the others just make a sentence longer. */
function examples(facts: FactKinds): Record<string, unknown> {
  const shown = Object.entries(facts).filter(([, kind]) => !isOptional(kind));
  return Object.fromEntries(shown.map(([name, kind]) => [name, exampleOf(name, nameOf(kind))]));
}

function exampleOf(name: string, kind: string): unknown {
  if (kind === "number") return typeof known[name] === "number" ? known[name] : numberOf(name);
  if (kind === "flag") return false;
  if (kind === "settings") return [exampleOf(name, "setting")];
  if (kind === "names") return name === "tasks" ? ["worker:0", "worker:1"] : [`‹${name}›`];
  return known[kind] ?? known[name] ?? `‹${name}›`;
}

function nameOf(kind: FactKinds[string]): string {
  return typeof kind === "string" ? kind : "";
}

function isOptional(kind: FactKinds[string]): boolean {
  return nameOf(kind).endsWith("?");
}

function numberOf(name: string): number {
  if (name.endsWith("Ms")) return 90_000;
  return name.endsWith("MiB") ? 4096 : 2;
}

function cell(sentence: string): string {
  return sentence.replaceAll("|", "\\|");
}

import { ExitCode } from "../../src/errors.ts";
import { effectiveKeys, type ListedKey, listKeys } from "../../src/job/key-list.ts";
import { findKey } from "../../src/job/keys.ts";
import { nearest } from "../../src/job/nearest.ts";
import { formatProblem, hasErrors } from "../../src/job/problem.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import { jobOptions } from "../command-line/job-options.ts";
import { readJobOf } from "../command-line/read-job.ts";
import { formatTable } from "../output/format.ts";
import type { KeysJson } from "../printed-json.ts";

export const keys = defineCommand({
  verb: "keys",
  summary: "List the keys of job.xml, or what a job sets",
  positionals: {
    filter: {
      describe:
        "Only keys that contain this text, or one key: tony.worker.memory; with --effective also the job's file",
    },
  },
  options: {
    effective: {
      type: "boolean",
      default: false,
      describe: "The values of a job (--conf job.xml) and where each was set",
    },
    ...jobOptions,
    ...jsonOption,
  },
  examples: [
    ["keys memory", "All keys about memory"],
    ["keys --effective job.xml", "Each value the job runs with, and where it was set"],
  ],
  run: async (args, context) => {
    const { output } = context;
    const file = args.effective && args.filter?.endsWith(".xml") ? args.filter : undefined;
    const job = args.effective ? await readJobOf("keys --effective", { ...args, job: file }, context) : undefined;
    const wanted = file === undefined ? (args.filter ?? "") : "";
    const all = job === undefined ? listKeys() : effectiveKeys(job.settings);
    const named = [wanted, `tony.${wanted}`].map((name) => findKey(name)?.name);
    const listed = all.filter(({ key }) => key.includes(wanted) || named.some((name) => name === key));
    for (const problem of job?.problems ?? []) output.problem(formatProblem(problem));
    if (args.json) output.json({ keys: listed } satisfies KeysJson);
    else if (listed.length > 0) output.print(args.effective ? table(listed) : manual(listed));
    else output.problem(nothingFound(wanted, all));
    return hasErrors(job?.problems ?? []) ? ExitCode.usage : ExitCode.succeeded;
  },
});

/** The text may be a misspelt key, of whatever role, or a word out of a key. */
function nothingFound(wanted: string, all: readonly ListedKey[]): string {
  const [, role = ""] = wanted.split(".");
  const names = all.map(({ key }) => key.replace("{role}", role));
  const meant = nearest(wanted, names) ?? nearest(wanted, new Set(names.flatMap((name) => name.split(/[.-]/))));
  return `No key contains ${wanted}; ${meant === undefined ? "" : `did you mean ${meant}? `}tony-ts keys lists all`;
}

function table(listed: readonly ListedKey[]): string {
  const rows = listed.map(({ key, value, at }) => [key, value ?? "", at ?? "default"]);
  return formatTable([["key", "value", "set in"], ...rows]).join("\n");
}

function manual(listed: readonly ListedKey[]): string {
  return listed.map(paragraph).join("\n");
}

function paragraph({ key, type, value, doc, support, note }: ListedKey): string {
  const preset = value === undefined ? "" : `, default ${value === "" ? "empty" : value}`;
  const state = support === "works" ? "" : ` [${support}${note === undefined ? "" : `: ${note}`}]`;
  return `${key}  (${type}${preset})${state}\n    ${doc}`;
}

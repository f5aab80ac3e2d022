import { ExitCode } from "../../src/errors.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import { jobOptions, readJobOf } from "../command-line/job-options.ts";
import { effectiveKeys, type ListedKey, listKeys } from "../command-line/key-list.ts";
import { formatTable } from "../output/format.ts";

export const keys = defineCommand({
  verb: "keys",
  summary: "List the keys of job.xml, or what a job sets",
  positionals: { filter: { describe: "Only keys that contain this text" } },
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
    ["keys --effective --conf job.xml", "What the job runs with, and why"],
  ],
  run: async (args, context) => {
    const all = args.effective ? effectiveKeys(readJobOf(args, context).settings) : listKeys();
    const listed = all.filter(({ key }) => args.filter === undefined || key.includes(args.filter));
    if (args.json) context.output.json(listed);
    else context.output.print(args.effective ? table(listed) : manual(listed));
    return ExitCode.succeeded;
  },
});

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

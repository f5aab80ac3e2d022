import { text } from "node:stream/consumers";
import { ExitCode, usageError } from "../../src/errors.ts";
import { applicationArgument, settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import type { KvWatchJson } from "../printed-json.ts";

const actions = ["get", "put", "del", "list", "transact", "watch"] as const;
/** The operations that take an owner. */
const WRITES: readonly string[] = ["put", "transact"];

export const kv = defineCommand({
  verb: "kv",
  summary: "Read and write the key-value store of a job that runs",
  positionals: {
    application: applicationArgument,
    action: {
      describe: "get, put, del, list, transact or watch",
      required: true,
      missing: `What? ${actions.join(", ")}`,
    },
    key: {
      describe:
        "The key; for list and watch the beginning of keys, default all; for transact its JSON, default standard input",
    },
    value: { describe: "The new value, for put" },
  },
  options: {
    owner: { type: "string", describe: "For put and transact: worker:0, whose restart or end deletes the key" },
    after: { type: "string", describe: "For watch: continue after this attempt and revision, such as 1:8" },
    ...settingOptions,
    ...jsonOption,
  },
  examples: [
    ["kv application_1795305600000_0007 put shared/learning-rate 0.01", "Returns when the write is safe"],
    ["kv application_1795305600000_0007 get shared/learning-rate", "Prints the value"],
    ["kv application_1795305600000_0007 list shared/", "The keys that begin so, with their values"],
    [
      `kv application_1795305600000_0007 transact '{"success": [{"type": "delete", "prefix": "shared/"}]}'`,
      "All of it happens, or nothing",
    ],
    ["kv application_1795305600000_0007 watch shared/", "Prints what changes, until the job ends"],
    ["kv application_1795305600000_0007 del shared/learning-rate", "Says how many keys went: 1 or 0"],
  ],
  run: async ({ application, action: word, key, value, owner, after, conf, json }, context) => {
    const action = actions.find((one) => one === word);
    if (action === undefined) throw usageError(`kv does ${actions.join(", ")}, not ${word}`);
    if (key === undefined && (action === "get" || action === "put" || action === "del"))
      throw usageError(`Which key? kv ID ${action} KEY`);
    if ((value !== undefined) !== (action === "put"))
      throw usageError(action === "put" ? "Which value? kv ID put KEY VALUE" : `kv ID ${action} takes no value`);
    if (owner !== undefined && !WRITES.includes(action)) throw usageError("--owner works only with put and transact");
    if (after !== undefined && action !== "watch") throw usageError("--after works only with watch");
    const position = after === undefined ? undefined : positionIn(after);
    const { connectRunningJob } = await import("../sessions/running-job.ts");
    if (action === "watch") {
      const { watchKeys, watchLines } = await import("../master/watched-keys.ts");
      const print = (news: KvWatchJson) => {
        if (json) context.output.jsonLine(news);
        else for (const line of watchLines(news)) context.output.print(line);
      };
      const connect = () => connectRunningJob(application, conf, context);
      await watchKeys({ prefix: key ?? "", ...(position && { after: position }), connect, print });
      return ExitCode.succeeded;
    }
    const { JobKeys } = await import("../master/job-keys.ts");
    const input = action === "transact" ? (key ?? (await text(context.streams.stdin))) : key;
    const master = await connectRunningJob(application, conf, context);
    try {
      const { printed, lines } = await new JobKeys(master)[action]({ key: input ?? "", value: value ?? "", owner });
      if (json) context.output.json(printed);
      else if (lines.length > 0) context.output.print(lines.join("\n"));
      return ExitCode.succeeded;
    } finally {
      master.close();
    }
  },
});

/** @throws UserError */
function positionIn(text: string): { readonly attempt: number; readonly revision: number } {
  const [, attempt, revision] = /^(\d{1,9}):(\d{1,15})$/.exec(text) ?? [];
  if (attempt === undefined || revision === undefined)
    throw usageError(`--after is an attempt and a revision, as watch --json prints them: 1:8, not ${text}`);
  return { attempt: Number(attempt), revision: Number(revision) };
}

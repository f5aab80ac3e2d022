import { ExitCode, usageError } from "../../src/errors.ts";
import { applicationArgument, settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";

const actions = ["get", "put", "del", "list"] as const;

export const kv = defineCommand({
  verb: "kv",
  summary: "Read and write the key-value store of a job that runs",
  positionals: {
    application: applicationArgument,
    action: { describe: "get, put, del or list", required: true, missing: `What? ${actions.join(", ")}` },
    key: { describe: "The key; of list the beginning of keys, without it all" },
    value: { describe: "Of put: the new value" },
  },
  options: {
    owner: { type: "string", describe: "With put: worker:0, with whose present life the key goes" },
    ...settingOptions,
    ...jsonOption,
  },
  examples: [
    ["kv application_1795305600000_0007 put shared/learning-rate 0.01", "Returns when the write is safe"],
    ["kv application_1795305600000_0007 get shared/learning-rate", "Prints the value"],
    ["kv application_1795305600000_0007 list shared/", "The keys that begin so, with their values"],
    ["kv application_1795305600000_0007 del shared/learning-rate", "Says how many keys went: 1 or 0"],
  ],
  run: async ({ application, action: word, key, value, owner, conf, json }, context) => {
    const action = actions.find((one) => one === word);
    if (action === undefined) throw usageError(`kv does ${actions.join(", ")}, not ${word}`);
    if (key === undefined && action !== "list") throw usageError(`Which key? kv ID ${action} KEY`);
    if ((value !== undefined) !== (action === "put"))
      throw usageError(action === "put" ? "Which value? kv ID put KEY VALUE" : `kv ID ${action} takes no value`);
    if (owner !== undefined && action !== "put") throw usageError("--owner is of put alone");
    const { connectRunningJob } = await import("../sessions/running-job.ts");
    const { JobKeys } = await import("../master/job-keys.ts");
    const master = await connectRunningJob(application, conf, context);
    try {
      const { printed, lines } = await new JobKeys(master)[action]({ key: key ?? "", value: value ?? "", owner });
      if (json) context.output.json(printed);
      else if (lines.length > 0) context.output.print(lines.join("\n"));
      return ExitCode.succeeded;
    } finally {
      master.close();
    }
  },
});

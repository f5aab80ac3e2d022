import { ExitCode } from "../../src/errors.ts";
import { isApplicationId, openApplications, openByName } from "../applications/backend.ts";
import { isLocalId } from "../applications/local-folder.ts";
import { readSiteSettings } from "../cluster/site-settings.ts";
import { settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";

export const advise = defineCommand({
  verb: "advise",
  summary: "Say what a job's next run should ask for, and what slowed it, by what its last runs used",
  positionals: {
    job: {
      describe: "application_…, local_…, or the name of jobs of yours: the last ones that have ended",
      required: true,
      missing: "Advice on which job? Give its id, or the name of jobs of yours (tony-ts list --all)",
    },
  },
  options: {
    apply: { type: "string", describe: "Write what is to change into this job.xml; its comments and layout stay" },
    ...settingOptions,
    ...jsonOption,
  },
  examples: [
    ["advise application_1795305600000_0007", "By one run; it may still be running"],
    ["advise bert-large", "By the last runs of that name: the more, the surer"],
    ["advise bert-large --apply job.xml", "And write it into the file"],
  ],
  run: async ({ job, apply, conf = [], json }, context) => {
    const [{ adviceLines, adviceOf, roundings }, { runOf, runsOf }] = await Promise.all([
      import("../results/advice.ts"),
      import("../results/runs.ts"),
    ]);
    const isId = isApplicationId(job);
    const applications = isId ? await openApplications(job, conf, context) : await openByName(conf, context);
    try {
      const runs = isId
        ? ([await runOf(job, conf, applications, context)] as const)
        : await runsOf(job, conf, applications, context);
      const ofCluster = !isLocalId(runs[0].status.applicationId);
      const advice = adviceOf(runs, roundings(ofCluster, context), readSiteSettings(conf, context));
      if (apply !== undefined && advice.settings.length > 0) {
        const { applySettings } = await import("../results/apply-settings.ts");
        applySettings(apply, advice.settings, context.workingDirectory);
      }
      if (json) context.output.json(advice);
      else context.output.print(adviceLines(advice, context.now(), apply).join("\n"));
      return ExitCode.succeeded;
    } finally {
      applications.close();
    }
  },
});

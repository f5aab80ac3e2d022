import { ExitCode } from "../../src/errors.ts";
import type { AdviceReason } from "../../src/job/reasons/advice.ts";
import { isApplicationId, openApplications, openByName } from "../applications/backend.ts";
import { isLocalId } from "../applications/local-folder.ts";
import { readSiteSettings } from "../cluster/site-settings.ts";
import { settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import type { ClientContext } from "../context.ts";

export const advise = defineCommand({
  verb: "advise",
  summary: "Suggest what a job's next run should ask for, and show what slowed it, from what its last runs used",
  positionals: {
    job: {
      describe: "application_…, local_…, or the name of your jobs: the last ones that have ended",
      required: true,
      missing: "Advice on which job? Give its id, or the name of jobs of yours (tony-ts list --all)",
    },
  },
  options: {
    apply: { type: "string", describe: "Write the suggested changes into this job.xml; its comments and layout stay" },
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
      const applied = apply === undefined ? undefined : await applyTo(apply, advice.advice, context);
      if (json) context.output.json(advice);
      else context.output.print(adviceLines(advice, context.now(), applied).join("\n"));
      return ExitCode.succeeded;
    } finally {
      applications.close();
    }
  },
});

async function applyTo(file: string, advice: readonly AdviceReason[], { workingDirectory }: ClientContext) {
  const [{ changesOf }, { applySettings }] = await Promise.all([
    import("../../src/advice/advise.ts"),
    import("../results/apply-settings.ts"),
  ]);
  return { file, ...applySettings(file, changesOf(advice), workingDirectory) };
}

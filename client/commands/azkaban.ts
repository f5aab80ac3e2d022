import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { UserError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { defineCommand } from "../command-line/command.ts";
import { readJobText } from "../command-line/read-job.ts";
import type { ClientContext } from "../context.ts";

/** Azkaban kills a process that still exists 30 s after its SIGTERM (azkaban.jobExecutor.utils.process.AzkabanProcess). */
const endWithinMs = 20_000;

export const azkaban = defineCommand({
  verb: "azkaban",
  summary: "Run a job of an Azkaban flow; the tony-ts job type calls this",
  positionals: {},
  options: {},
  examples: [["azkaban", "Reads the job's properties from JOB_PROP_FILE, which Azkaban sets (docs/guide/azkaban.md)"]],
  run: async (_args, context) => {
    const [{ flowJob }, { FlowView }, { outputProperties }, { runSubmission }] = await Promise.all([
      import("../azkaban/job-properties.ts"),
      import("../azkaban/flow-view.ts"),
      import("../azkaban/output-properties.ts"),
      import("../submission/run-submission.ts"),
    ]);
    const { output, now, workingDirectory } = context;
    const properties = await jobProperties(context);
    const { options, remarks, tag } = flowJob(properties, (name) => existsSync(path.join(workingDirectory, name)));
    for (const remark of remarks) output.problem(remark);
    const text = await readJobText(tag === undefined ? options : { ...options, tags: [tag] }, context);
    const view = new FlowView(output, now, now());
    // Azkaban's own job types look for a space before the id of the application that they have to kill.
    const submitted = (id: string) => output.print(`Submitted application ${id}`);
    const exitCode = await runSubmission(
      text,
      {
        detach: false,
        json: false,
        logs: { kind: "lead" },
        local: false,
        display: { view, submitted },
        // The tag belongs to the flow's execution: an earlier try of this job submitted the application.
        own: true,
        endWithinMs,
        ...(tag === undefined ? {} : { applicationTag: tag }),
      },
      context,
    );
    if (view.end !== undefined) writeOutput(outputProperties(view.end), context);
    return exitCode;
  },
});

async function jobProperties({ environment }: ClientContext): Promise<ReadonlyMap<string, string>> {
  const file = environment.JOB_PROP_FILE;
  if (!file) {
    throw new UserError(
      "tony-ts azkaban is what Azkaban runs for a job of the type tony-ts: JOB_PROP_FILE is not set\n  To run a job yourself: tony-ts submit job.xml",
      { code: "NOT_IN_A_FLOW" },
    );
  }
  const { getProperties } = await import("properties-file");
  // java.util.Properties#store writes ISO 8859-1, with \\u escapes for everything else.
  return new Map(Object.entries(getProperties(readFileSync(file, "latin1"))));
}

/** The job's end stands even when its flow cannot be told of it. */
function writeOutput(properties: Readonly<Record<string, string>>, { environment, output }: ClientContext): void {
  const file = environment.JOB_OUTPUT_PROP_FILE;
  if (!file) return;
  try {
    writeFileSync(file, JSON.stringify(properties));
  } catch (error) {
    output.problem(`The properties for the next jobs of the flow could not be written: ${errorMessage(error)}`);
  }
}

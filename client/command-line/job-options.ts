import type { InferredOptionTypes } from "yargs";
import { processSurroundings } from "../../src/hadoop/conf/configuration.ts";
import { type JobText, lookUpLocalPath, readJob } from "../../src/job/load-job.ts";
import type { SubmissionOptions } from "../../src/job/submission.ts";
import type { ClientContext } from "../context.ts";
import { usageError } from "./command.ts";

/**
 * What a job is made of on a command line: ours and all of TonY's options, by TonY's names. `tony-arguments.ts` has brought the forms
 * with one dash into these.
 */
export const jobOptions = {
  conf: {
    type: "string",
    array: true,
    describe: "The job's file, or a setting KEY=VALUE over it; may be repeated",
  },
  conf_file: { type: "string", describe: "The job's file, as TonY spells it" },
  executes: { type: "string", describe: "The command that every role without its own runs" },
  task_params: { type: "string", describe: "Appended to -executes" },
  src_dir: { type: "string", describe: "Folder or archive whose content every task finds in its working directory" },
  python_venv: { type: "string", describe: "Folder or archive that every task finds as venv/" },
  python_binary_path: { type: "string", describe: "Interpreter for -executes: absolute, or inside python_venv" },
  shell_env: { type: "string", array: true, describe: "NAME=VALUE for the program; may be repeated" },
  container_env: { type: "string", array: true, describe: "NAME=VALUE for the containers; may be repeated" },
  sidecar_tensorboard_log_dir: { type: "string", describe: "Runs a TensorBoard beside the job over this folder" },
  hdfs_classpath: { type: "string", hidden: true },
} as const;

export type JobOptionValues = InferredOptionTypes<{ -readonly [K in keyof typeof jobOptions]: (typeof jobOptions)[K] }>;

/** Reads the job that the options describe; neither a file nor a command given is a mistake in usage. */
export function readJobOf(values: JobOptionValues, context: ClientContext): JobText {
  const options = submissionOptions(values);
  const text = readJob(options, { surroundings: surroundingsOf(context) });
  if (text.submission.jobFile === undefined && text.submission.settings.length === 0) {
    throw usageError("Which job? Give its file: --conf job.xml\n  tony-ts init writes one");
  }
  return text;
}

export const jobLookUp = lookUpLocalPath;

/** What `${…}` in a job's file may refer to. */
export function surroundingsOf(context: ClientContext): ReturnType<typeof processSurroundings> {
  return processSurroundings({ ...context.environment });
}

/** Remarks about options that are taken for TonY's sake but have no effect here. */
export function optionRemarks(values: JobOptionValues): string[] {
  return values.hdfs_classpath === undefined
    ? []
    : ["--hdfs_classpath has no effect: no JVM runs in the containers; name files in tony.containers.resources"];
}

function submissionOptions(values: JobOptionValues): SubmissionOptions {
  const { conf, conf_file: confFile, executes, task_params: taskParams, src_dir: srcDir } = values;
  const { python_venv: pythonVenv, python_binary_path: pythonBinaryPath } = values;
  const { shell_env: shellEnv, container_env: containerEnv } = values;
  const { sidecar_tensorboard_log_dir: sidecarTensorboardLogDir } = values;
  return {
    ...(conf && { conf }),
    ...(confFile !== undefined && { confFile }),
    ...(executes !== undefined && { executes }),
    ...(taskParams !== undefined && { taskParams }),
    ...(srcDir !== undefined && { srcDir }),
    ...(pythonVenv !== undefined && { pythonVenv }),
    ...(pythonBinaryPath !== undefined && { pythonBinaryPath }),
    ...(shellEnv && { shellEnv }),
    ...(containerEnv && { containerEnv }),
    ...(sidecarTensorboardLogDir !== undefined && { sidecarTensorboardLogDir }),
  };
}

import type { InferredOptionTypes } from "yargs";
import type { SubmissionOptions } from "../../src/job/build/submission.ts";

/**
 * What a job is made of on a command line: our options and all of TonY's, by TonY's names. `tony-arguments.ts` has already rewritten
 * the forms with one dash.
 */
export const jobOptions = {
  conf: {
    type: "string",
    array: true,
    describe: "The job's file, or a setting KEY=VALUE that overrides it (a list: adds to it); may be repeated",
  },
  conf_file: { type: "string", describe: "The job's file; TonY's spelling of --conf" },
  executes: { type: "string", describe: "The command of every role that sets none" },
  task_params: { type: "string", describe: "Appended to -executes" },
  src_dir: { type: "string", describe: "Folder or archive whose content is placed in every task's working directory" },
  python_venv: {
    type: "string",
    describe:
      "Folder or archive that is placed at venv/ in every task's working directory; or a PEX, placed there itself",
  },
  python_binary_path: {
    type: "string",
    describe: "Python for --executes: an absolute path, or a path inside python_venv",
  },
  shell_env: { alias: "env", type: "string", array: true, describe: "NAME=VALUE for the program; may be repeated" },
  container_env: { type: "string", array: true, describe: "NAME=VALUE for the containers; may be repeated" },
  secret: {
    type: "string",
    array: true,
    describe: "NAME=file:PATH or NAME=env:VARIABLE for the program, hidden from everyone else; may be repeated",
  },
  sidecar_tensorboard_log_dir: {
    type: "string",
    describe: "Run a TensorBoard beside the job for the logs in this folder",
  },
  hdfs_classpath: {
    type: "string",
    describe: "Files and folders on HDFS for every task, separated by commas; missing ones are left out",
  },
} as const;

/** What one submission changes of the job's file. */
export const submissionOverrides = {
  name: { type: "string", describe: "The job's name; overrides tony.application.name" },
  queue: { type: "string", describe: "The queue to submit to; overrides tony.yarn.queue" },
  priority: {
    type: "string",
    describe: "YARN's priority of the job, a whole number; overrides tony.application.priority",
  },
} as const;

/** For the commands that check a job. */
export const strictOption = {
  strict: { type: "boolean", default: false, describe: "Treat every warning about the job as an error" },
} as const;

/** `tony-ts submit job.xml`, for `--conf job.xml`. */
export const jobArgument = {
  describe: "The job's file, as with --conf; a path, or a URL such as hdfs:///jobs/job.xml",
};

export type JobOptionValues = InferredOptionTypes<{
  -readonly [K in keyof typeof jobOptions]: (typeof jobOptions)[K];
}> & {
  /** The job's file, as a positional argument. */
  readonly job?: string | undefined;
  readonly name?: string | undefined;
  readonly queue?: string | undefined;
  readonly priority?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** A path or URL. */
  readonly resumeFrom?: string | undefined;
  readonly strict?: boolean | undefined;
  readonly runsSearch?: boolean | undefined;
};

/** The options in the terms of `src/job`. */
export function submissionOptions(values: Partial<JobOptionValues>): SubmissionOptions {
  const {
    job,
    name,
    queue,
    priority,
    tags,
    resumeFrom,
    strict,
    runsSearch,
    conf: given,
    conf_file: confFile,
    executes,
    task_params: taskParams,
    src_dir: srcDir,
  } = values;
  const { python_venv: pythonVenv, python_binary_path: pythonBinaryPath } = values;
  const { shell_env: shellEnv, container_env: containerEnv, secret: secrets } = values;
  const { sidecar_tensorboard_log_dir: sidecarTensorboardLogDir, hdfs_classpath: hdfsClasspath } = values;
  const conf = job === undefined ? given : [job, ...(given ?? [])];
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
    ...(secrets && { secrets }),
    ...(sidecarTensorboardLogDir !== undefined && { sidecarTensorboardLogDir }),
    ...(hdfsClasspath !== undefined && { hdfsClasspath }),
    ...(name !== undefined && { name }),
    ...(queue !== undefined && { queue }),
    ...(priority !== undefined && { priority }),
    ...(tags && { tags }),
    ...(resumeFrom !== undefined && { resumeFrom }),
    ...(strict && { strict }),
    ...(runsSearch && { runsSearch }),
  };
}

/** The words of a command line that describe the same job: its file, and the options as they were given. */
export function jobWords(values: Partial<JobOptionValues>): string[] {
  const given = Object.entries<unknown>(values).filter(([name, value]) => name in jobOptions && value !== undefined);
  const words = given.flatMap(([name, value]) => [value].flat().flatMap((one) => [`--${name}`, String(one)]));
  return [...(values.job === undefined ? [] : [values.job]), ...words];
}

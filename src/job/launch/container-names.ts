import type { TaskId } from "../task.ts";

/** Every name in a container's working directory that the job cannot choose: all code that creates something there takes the name from here. */

/** Where `--python_venv` is unpacked. */
export const VENV_NAME = "venv";

/** Where `--src_dir` is unpacked; the executor copies it from there into the working directory itself. */
export const SOURCE_NAME = "src-dir";
/** The folder that the executor first unpacks it to. */
export const UNPACKED_SOURCE_NAME = `${SOURCE_NAME}.unpacked`;

/** The Node that is sent; one per architecture, as `node-x86_64`. */
export const RUNTIME_NAME = "node";

/** Our programs, each next to its V8 code cache. */
export const BUNDLES = { am: "am.cjs", executor: "executor.cjs", tokens: "tokens.cjs" } as const;
/** The job's page, served by the ApplicationMaster. */
export const PAGE_NAME = "tony-page.html";
export const CACHE_ENDING = ".cache";

/** What an executor leaves for the executor that replaces it. */
export const NEXT_EXECUTOR = "next-executor.sh";

/** The file that HADOOP_TOKEN_FILE_LOCATION names for programs. */
export const PROGRAM_TOKENS = "tony-tokens";

/** The executor's records of files that it uploads and restores. */
export const CARRIER_FOLDER = ".tony-carrier";

/** Makes a program's Python processes write their stacks (executor/monitoring/python-stacks.ts). */
export const STACKS_FOLDER = ".tony-stacks";

/** koffi's native module, with which an ApplicationMaster logs in with a keytab. */
export function nativeModuleName(architecture: string): string {
  return `koffi-${architecture}.node`;
}

/** The files by which the executor and the program of one generation communicate. */
export function generationFiles(generation: number | string) {
  return {
    progress: `tony-progress-${generation}.jsonl`,
    notice: `tony-notice-${generation}.json`,
    hosts: `tony-hosts-${generation}`,
    api: `tony-api-${generation}`,
    results: `tony-results-${generation}`,
  } as const;
}

/** YARN's folder for the program's temporary files, which others may use as well. */
export const YARN_TEMPORARY = "tmp";
export const YARN_TOKENS = "container_tokens";
export const YARN_SCRIPT = "launch_container.sh";

/**
 * The files that a NodeManager itself writes there
 * (org.apache.hadoop.yarn.server.nodemanager.containermanager.launcher.ContainerLaunch, DefaultContainerExecutor; each with
 * Hadoop's checksums).
 */
const yarnNames = [
  YARN_TOKENS,
  YARN_SCRIPT,
  "default_container_executor.sh",
  "default_container_executor_session.sh",
  "yarn_provided.keystore",
  "yarn_provided.truststore",
  "sysfs",
];

const bundleNames = Object.values(BUNDLES);
const ownNames = [
  RUNTIME_NAME,
  ...bundleNames,
  ...bundleNames.map((bundle) => bundle + CACHE_ENDING),
  NEXT_EXECUTOR,
  PAGE_NAME,
  PROGRAM_TOKENS,
  `${PROGRAM_TOKENS}.tmp`,
  CARRIER_FOLDER,
  STACKS_FOLDER,
  SOURCE_NAME,
  UNPACKED_SOURCE_NAME,
];
/** `node-x86_64`, `koffi-x64.node`, `tony-progress-3.jsonl` */
const ownPatterns = [`${RUNTIME_NAME}-(?:x86_64|aarch64)`, nativeModuleName("(?:x64|arm64)")];
const ownFamilies = new RegExp(`^(?:${[...ownPatterns, ...Object.values(generationFiles("\\d+"))].join("|")})$`);

/** Who owns a name in every container; undefined: the job may use it. */
export function ownerOf(name: string): "tony-ts" | "YARN" | undefined {
  if (ownNames.includes(name) || ownFamilies.test(name)) return "tony-ts";
  const checked = /^\.(.+)\.crc$/.exec(name)?.[1] ?? name;
  return name === YARN_TEMPORARY || yarnNames.includes(checked) ? "YARN" : undefined;
}

/**
 * The prefix of a task's log file names when its container ran another task before: each task has its own files in the container's one
 * log folder. Without a colon: Hadoop's paths take what precedes it for a scheme.
 */
export function logPrefixOf(task: TaskId): string {
  return `${task.replace(":", "-")}.`;
}

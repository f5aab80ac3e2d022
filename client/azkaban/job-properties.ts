import { createHash } from "node:crypto";
import type { SubmissionOptions } from "../../src/job/build/submission.ts";
import { escapeListItem } from "../../src/job/keys/types.ts";
import { submissionOptions } from "../command-line/job-options.ts";

/** A job of a flow, as its properties describe it. */
export interface FlowJob {
  readonly options: SubmissionOptions;
  /** Warnings about properties that have no effect here. */
  readonly remarks: readonly string[];
  /** The tag by which a retry of the same job of the same execution finds an application that an earlier try left running. */
  readonly tag?: string;
}

/** TonY tags an application with these, so that a flow's applications can be found (com.linkedin.tony.azkaban.TonyJob). */
const tagged = [
  "azkaban.flow.execid",
  "azkaban.flow.flowid",
  "azkaban.flow.projectname",
  "azkaban.webserverhost",
] as const;
/** YARN refuses a longer tag (yarn.resourcemanager.application.max-tag.length). */
const longestTag = 100;
/** Properties that only concern TonY's JVM. */
export const meaningless: ReadonlySet<string> = new Set(["tony.default.jvm.opts"]);
const defaultSource = "src";

/**
 * What a job's properties say, as TonY's job type reads them (com.linkedin.tony.azkaban.TonyJob, TonyJobArg): `tony.*` are settings of the
 * job, a property named like an option of TonY's client is that option, `worker_env.NAME` is a variable of the programs.
 * @param exists whether there is a file or folder of that name in the job's working directory
 */
export function flowJob(properties: ReadonlyMap<string, string>, exists: (path: string) => boolean): FlowJob {
  const settings = new Map([...properties].filter(([key]) => key.startsWith("tony.") && !meaningless.has(key)));
  const tags = [settings.get("tony.application.tags") ?? "", ...flowTags(properties)];
  settings.set("tony.application.tags", tags.filter((tag) => tag !== "").join(","));
  const ignored = [...properties.keys()].filter((key) => meaningless.has(key));
  const tag = retryTag(properties);
  return {
    options: { ...clientOptions(properties, exists), properties: settings },
    remarks: ignored.map((key) => `${key} has no effect: there is no JVM`),
    ...(tag !== undefined && { tag }),
  };
}

function clientOptions(
  properties: ReadonlyMap<string, string>,
  exists: (path: string) => boolean,
): Omit<SubmissionOptions, "properties"> {
  const given = (key: string) => {
    const value = properties.get(key)?.trim();
    return value === undefined || value === "" ? undefined : value;
  };
  return submissionOptions({
    conf_file: given("conf_file"),
    executes: given("executes"),
    task_params: given("task_params"),
    src_dir: given("src_dir") ?? (exists(defaultSource) ? defaultSource : undefined),
    python_venv: given("python_venv"),
    python_binary_path: given("python_binary_path"),
    hdfs_classpath: given("hdfs_classpath"),
    shell_env: [...programEnvironment(properties)],
  });
}

function* programEnvironment(properties: ReadonlyMap<string, string>): Generator<string> {
  const prefix = "worker_env.";
  for (const [key, value] of properties) {
    if (key.startsWith(prefix)) yield `${key.slice(prefix.length)}=${value}`;
  }
  for (const [key, name] of [
    ["azkaban.input.dataset", "AZKABAN_INPUT_DATASET"],
    ["azkaban.output.dataset", "AZKABAN_OUTPUT_DATASET"],
  ] as const) {
    const value = properties.get(key);
    if (value !== undefined) yield `${name}=${value.replaceAll(",", ";")}`;
  }
}

/** `azkaban.flow.execid:12`, as Azkaban's own job types write them (azkaban.jobtype.HadoopJobUtils#constructHadoopTags). */
function flowTags(properties: ReadonlyMap<string, string>): string[] {
  return tagged.flatMap((key) => {
    const value = properties.get(key);
    return value === undefined || value === "" ? [] : [escapeListItem(tagOf(`${key}:${value}`))];
  });
}

/** Names one job of one execution: several Azkabans may use one cluster, and each counts its executions from 1. */
function retryTag(properties: ReadonlyMap<string, string>): string | undefined {
  const [execution, job] = [properties.get("azkaban.flow.execid"), properties.get("azkaban.job.id")];
  if (!execution || !job) return undefined;
  const path = properties.get("azkaban.flow.nested.path") ?? job;
  const which = JSON.stringify([properties.get("azkaban.webserverhost") ?? "", execution, path]);
  return `tony-ts:azkaban:${createHash("sha256").update(which).digest("hex").slice(0, 32)}`;
}

/** YARN takes ASCII alone: other letters are percent-encoded. */
function tagOf(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, (letters) => encodeURIComponent(letters)).slice(0, longestTag);
}

import { readJob } from "../../src/job/load-job.ts";
import { invalidJob } from "../../src/job/problem.ts";
import { readSetting } from "../../src/job/read-settings.ts";
import { type ClientContext, variablesOf } from "../context.ts";

/** Settings that matter beside a job: the site's, and those of the command line. */
export interface SiteSettings {
  readonly stagingDir: string | undefined;
  readonly cacheDir: string | undefined;
  readonly nodeBinary: string | undefined;
  readonly gateway: string | undefined;
  readonly hadoop: Readonly<Record<string, string>>;
}

/** Reads `tony-site.xml` and `KEY=VALUE` settings (or a job's file) for verbs that need no job. */
export function readSiteSettings(conf: readonly string[], context: ClientContext): SiteSettings {
  const text = readJob({ conf }, { variables: variablesOf(context) });
  if (text.problems.some(({ severity }) => severity === "error")) throw invalidJob(text.problems);
  return {
    stagingDir: readSetting(text.settings, "tony.staging-dir"),
    cacheDir: readSetting(text.settings, "tony.cache.dir"),
    nodeBinary: readSetting(text.settings, "tony.node.binary"),
    gateway: readSetting(text.settings, "tony.hdfs.endpoint"),
    hadoop: text.hadoop,
  };
}

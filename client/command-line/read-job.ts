import { existsSync } from "node:fs";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { usageError } from "../../src/errors.ts";
import { readLocalText } from "../../src/hadoop/conf/xml.ts";
import { decodeXml } from "../../src/hadoop/conf/xml-encoding.ts";
import { errorCode } from "../../src/hadoop/errors.ts";
import { type JobText, readJob } from "../../src/job/build/load-job.ts";
import { isSetting, type SubmissionOptions, submissionSettings } from "../../src/job/build/submission.ts";
import { type ClientContext, variablesOf } from "../context.ts";
import { type JobOptionValues, submissionOptions, submissionOverrides } from "./job-options.ts";

const tonyXml = "tony.xml";

/**
 * Reads the job that the options describe, from the cluster's file system where its file is a URL; a usage error where neither a file
 * nor a command is given.
 * @param verb the command that needs the job
 */
export async function readJobOf(verb: string, values: JobOptionValues, context: ClientContext): Promise<JobText> {
  const text = await readJobText(submissionOptions(values), context);
  const { jobFile, problems, settings } = text.submission;
  const isNothing = jobFile === undefined && problems.length === 0 && settings.every(({ at }) => isOverride(at));
  if (isNothing) throw usageError(whichJob(verb, context));
  return jobFile === undefined ? withoutTonyXml(text, verb, context) : text;
}

/** TonY reads a `tony.xml` on its class path, which often contains the working directory. */
function withoutTonyXml(text: JobText, verb: string, { workingDirectory }: ClientContext): JobText {
  if (!existsSync(path.join(workingDirectory, tonyXml))) return text;
  const message = `is not read: give it, if it is the job's: tony-ts ${verb} ${tonyXml} …`;
  return { ...text, problems: [...text.problems, { severity: "warning", message, at: tonyXml }] };
}

/** Options that change a job but do not make one. */
function isOverride(option: string): boolean {
  return Object.keys(submissionOverrides).some((name) => option === `--${name}`);
}

/** The same for a job that may consist of options alone. */
export async function readJobText(options: SubmissionOptions, context: ClientContext): Promise<JobText> {
  const { jobFile } = submissionSettings(options);
  const fetched =
    jobFile !== undefined && isOnCluster(jobFile) ? await fetchText(jobFile, options, context) : undefined;
  return readJob(options, {
    variables: variablesOf(context),
    readText: (file) => (file === jobFile && isOnCluster(file) ? fetched : readLocal(localPath(file), context)),
  });
}

function whichJob(verb: string, { workingDirectory }: ClientContext): string {
  const there = ["job.xml", tonyXml].find((name) => existsSync(path.join(workingDirectory, name)));
  if (there !== undefined) return `Which job? Give the file: tony-ts ${verb} ${there}`;
  return "Which job? Give its file: job.xml\n  tony-ts init writes one";
}

function isOnCluster(file: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(file) && !file.startsWith("file:");
}

function readLocal(file: string, { workingDirectory }: ClientContext): string | undefined {
  return readLocalText(path.resolve(workingDirectory, file), file);
}

/**
 * The path of a file on this machine. A file that another one includes may be `file:/…`: joining paths leaves one slash.
 * @throws UserError for an address on another host
 */
function localPath(file: string): string {
  if (!file.startsWith("file:/")) return file;
  const { host } = new URL(file);
  if (host !== "" && host !== "localhost")
    throw usageError(`${file} is on the host ${host}: a file of this machine is file:///path, or its path alone`);
  return fileURLToPath(file);
}

/** Undefined when the file does not exist. @throws UserError without a cluster, or when it does not answer */
async function fetchText(
  url: string,
  { conf }: Pick<SubmissionOptions, "conf">,
  context: ClientContext,
): Promise<string | undefined> {
  const [{ Cluster }, { readSiteSettings }] = await Promise.all([
    import("../cluster/cluster.ts"),
    import("../cluster/site-settings.ts"),
  ]);
  const cluster = await Cluster.open(context, readSiteSettings((conf ?? []).filter(isSetting), context));
  try {
    return await cluster.use(async ({ fileSystems }) => {
      const { fileSystem, path } = fileSystems.locate(url);
      return decodeXml(await buffer(await fileSystem.open(path)), url);
    });
  } catch (error) {
    if (errorCode(error) === "FILE_NOT_FOUND") return undefined;
    throw error;
  } finally {
    cluster.close();
  }
}

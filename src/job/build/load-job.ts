import { statSync } from "node:fs";
import path, { join } from "node:path";
import type { ExpansionVariables } from "../../hadoop/conf/configuration.ts";
import { ConfigurationError, formatLocation, type SourceLocation } from "../../hadoop/conf/errors.ts";
import { parseProperties, readLocalText, type XmlProperty } from "../../hadoop/conf/xml.ts";
import { errorMessage, isNotThere } from "../../hadoop/errors.ts";
import type { Resource } from "../../hadoop/yarn/records.ts";
import { programFileOf } from "../diagnosis/program-file.ts";
import type { KeyName } from "../keys.ts";
import { hasErrors, inFileOrder, type Problem } from "../problem.ts";
import { emptyKeys, hadoopSettings, mergeSettings, type Settings, settingsOf, underLaterNames } from "../settings.ts";
import type { JobSpec } from "../spec.ts";
import { parseTaskId } from "../task.ts";
import { type ContainerFacts, readResource } from "./build-roles.ts";
import { buildJobSpec, type CheckedJob, type JobContext, orphanMs } from "./build-spec.ts";
import { checkOtherNames } from "./check-other-names.ts";
import { JobReader } from "./job-reader.ts";
import { checkReferences, expandSettings } from "./read-settings.ts";
import type { LookUpPath } from "./resource-strings.ts";
import { searchRun } from "./search-run.ts";
import { type Submission, type SubmissionOptions, submissionSettings } from "./submission.ts";

/** Where TonY looks for tony-site.xml when TONY_CONF_DIR is not set. */
const DEFAULT_SITE_FOLDER = "/export/apps/tony/conf";

/** Keys that name files of the cluster's configuration, which override that of HADOOP_CONF_DIR. */
const CLUSTER_FILES = [
  "tony.application.hdfs-conf-path",
  "tony.application.yarn-conf-path",
  "tony.application.mapred-conf-path",
] as const satisfies KeyName[];

const nameKey = "tony.application.name" satisfies KeyName;

export interface JobSources {
  /** What `${…}` may refer to. */
  readonly variables: ExpansionVariables;
  /** The text of a file, or undefined when it does not exist. Default: the local disk. A caller with HDFS access reads URLs too. */
  readonly readText?: (path: string) => string | undefined;
  /** Default: the local disk. */
  readonly lookUp?: LookUpPath;
}

/** A job as its files and options describe it, not yet checked as a whole. */
export interface JobText {
  readonly submission: Submission;
  /** In force, with `${…}` expanded. */
  readonly settings: Settings;
  /** The places of keys without a value in the job's file; they set nothing. */
  readonly empty: ReadonlyMap<string, string>;
  /** Properties that override the cluster's configuration. */
  readonly hadoop: Readonly<Record<string, string>>;
  readonly problems: readonly Problem[];
}

/** Reads the job's file, the site's, and the options, and merges them. Bad XML and missing files are reported as problems too. */
export function readJob(
  options: SubmissionOptions,
  { variables, readText = readLocalText, lookUp = lookUpLocalPath }: JobSources,
): JobText {
  const submission = submissionSettings(options);
  const problems: Problem[] = [...submission.problems];
  const onUnnamed = (location: SourceLocation) => problems.push(unnamedProperty(location));
  const onLost = (message: string, location: SourceLocation) =>
    problems.push({ severity: "warning", message, at: formatLocation(location) });
  const read = (path: string, missing?: Omit<Problem, "severity">): XmlProperty[] => {
    try {
      const text = readText(path);
      if (text !== undefined && !isMarkup(text)) problems.push({ severity: "error", message: notJobXml(path) });
      else if (text !== undefined) return parseProperties(text, path, { readText, onUnnamed, onLost });
      else if (missing !== undefined) problems.push({ severity: "error", ...missing });
    } catch (error) {
      problems.push(unreadable(error));
    }
    return [];
  };
  const siteFolder = variables.environment.TONY_CONF_DIR;
  if (siteFolder && lookUp(siteFolder) !== "directory") {
    const message = `${siteFolder} is not a folder, so no tony-site.xml is read`;
    problems.push({ severity: "warning", message, at: "TONY_CONF_DIR" });
  }
  const job =
    submission.jobFile === undefined
      ? []
      : read(submission.jobFile, { message: `the job's file ${submission.jobFile} does not exist` });
  const site = read(siteFile(variables.environment));
  const named = underLaterNames([
    ...settingsOf(job, "job"),
    ...submission.properties,
    ...settingsOf(site, "site"),
    ...submission.settings,
  ]);
  const merged = mergeSettings(named.settings);
  const settings = expandSettings(merged.settings, variables);
  problems.push(...named.problems, ...merged.problems, ...checkOtherNames(merged.settings));
  problems.push(...checkReferences(merged.settings, variables));
  const cluster = CLUSTER_FILES.flatMap((key) => {
    const { value: path = "", at = "" } = settings.get(key) ?? {};
    return path === "" ? [] : read(path, { message: `${key} names ${path}, which does not exist`, key, at });
  });
  const ofFiles = Object.fromEntries(
    cluster.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const])),
  );
  return { submission, settings, empty: emptyKeys(job), hadoop: { ...ofFiles, ...hadoopSettings(settings) }, problems };
}

/** What is wrong with a file, and where. */
function unreadable(error: unknown): Problem {
  if (!(error instanceof ConfigurationError) || error.location === undefined) {
    return { severity: "error", message: errorMessage(error) };
  }
  return { severity: "error", message: error.problem, at: formatLocation(error.location) };
}

/** Hadoop ignores it. */
function unnamedProperty(location: SourceLocation): Problem {
  const message = "this <property> has no effect: it has no <name>";
  return { severity: "warning", message, at: formatLocation(location) };
}

/** Whether it begins like XML; an empty text is left to the parser. */
function isMarkup(text: string): boolean {
  const begin = text.trimStart();
  return begin === "" || begin.startsWith("<");
}

function notJobXml(path: string): string {
  return `${path} is not a job.xml: it is not XML. To run a program, name it in a job.xml's command; tony-ts init writes one`;
}

/**
 * Checks a job that was read, and makes its spec; returns all problems in the order of the file. A job that could not be read is
 * not checked further: what is missing would be reported again and again.
 */
export function checkJob(text: JobText, context: Omit<JobContext, "ship" | "empty">): CheckedJob {
  return judged(text, leniently(text, context));
}

/** The same job adapted to its cluster, with the problems that only the cluster reveals. */
export function fitJob(text: JobText, spec: JobSpec, problems: readonly Problem[], facts: FittingFacts): CheckedJob {
  const fitted = fitToCluster(spec, text.settings, facts);
  return judged(text, { ...fitted, problems: inFileOrder([...problems, ...fitted.problems]) });
}

/** With `--strict` warnings are errors. */
function judged({ submission }: JobText, checked: CheckedJob): CheckedJob {
  if (!submission.strict || checked.problems.length === 0) return checked;
  return { problems: checked.problems.map((problem) => ({ ...problem, severity: "error" })) };
}

function leniently(text: JobText, context: Omit<JobContext, "ship" | "empty">): CheckedJob {
  if (hasErrors(text.problems)) return { problems: text.problems };
  const { spec, problems, ...found } = buildJobSpec(text.settings, {
    ...context,
    empty: text.empty,
    ship: text.submission.ship,
  });
  const all = inFileOrder([...text.problems, ...problems]);
  if (spec === undefined) return { problems: all };
  const { submission, settings } = text;
  const name = settings.has(nameKey) ? undefined : defaultName(spec, submission.jobFile, context.workingDirectory);
  const { jobFile, trialsBefore: before, optunaProgram } = submission;
  const givenKeys = [...new Set(submission.settings.map(({ key }) => key))];
  const added = {
    ...(jobFile !== undefined && { jobFile }),
    ...(givenKeys.length > 0 && { givenKeys }),
    ...(before && { before }),
    ...(optunaProgram !== undefined && { optunaProgram }),
  };
  const search = found.search && { ...found.search, ...added };
  const run = submission.runsSearch && search !== undefined ? searchRun(spec, search) : spec;
  const tags = [...spec.tags, ...submission.tags];
  return { ...found, spec: { ...run, tags, ...(name !== undefined && { name }) }, problems: all };
}

/** The file in which a site sets limits and defaults for every job: `$TONY_CONF_DIR/tony-site.xml`. */
export function siteFile(environment: Readonly<Record<string, string | undefined>>): string {
  return join(environment.TONY_CONF_DIR || DEFAULT_SITE_FOLDER, "tony-site.xml");
}

/** What exists at a path on the local disk. */
export const lookUpLocalPath: LookUpPath = (path) => {
  try {
    return statSync(path).isDirectory() ? "directory" : "file";
  } catch (error) {
    if (isNotThere(error)) return undefined;
    throw error;
  }
};

/**
 * The name of a job that has none of its own: the file that its lead task runs, else the folder of the job's file, by which people tell
 * jobs apart; undefined where there is neither.
 * @param jobFile a path or a URL
 */
export function defaultName(
  { roles, leadTask }: Pick<JobSpec, "roles" | "leadTask">,
  jobFile: string | undefined,
  workingDirectory: string,
): string | undefined {
  const lead = parseTaskId(leadTask)?.role;
  const program = programFileOf(roles.find(({ name }) => name === lead)?.command ?? "");
  const name = program === undefined ? folderOf(jobFile, workingDirectory) : path.posix.parse(program).name;
  return name === "" ? undefined : name;
}

function folderOf(jobFile: string | undefined, workingDirectory: string): string {
  if (jobFile === undefined) return "";
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(jobFile);
  const file = isUrl ? new URL(jobFile).pathname : path.resolve(workingDirectory, jobFile);
  return path.posix.basename(path.posix.dirname(file));
}

/** The facts of a cluster that affect a job. */
export interface FittingFacts extends ContainerFacts {
  /** The longest expiry of an ApplicationMaster or node. */
  readonly clusterExpiryMs?: number;
}

/**
 * A job adapted to this cluster: amounts in the cluster's units, and a wait that outlasts the cluster's own.
 * @param settings it was built from
 * @returns the problems that only the cluster reveals
 */
export function fitToCluster(spec: JobSpec, settings: Settings, facts: FittingFacts): CheckedJob {
  const reader = new JobReader(settings, { workingDirectory: "", lookUp: () => undefined });
  const inItsUnits = (role: string, resource: Resource): Resource => {
    const { others } = readResource(reader, role, facts);
    return { ...resource, others };
  };
  const roles = spec.roles.map((role) =>
    role.inMaster === true ? role : { ...role, resource: inItsUnits(role.name, role.resource) },
  );
  const am = { ...spec.am, resource: inItsUnits("am", spec.am.resource) };
  const { problems } = reader;
  if (hasErrors(problems)) return { problems };
  const timeouts = { ...spec.timeouts, orphanMs: orphanMs(reader, facts.clusterExpiryMs) };
  return { spec: { ...spec, am, roles, timeouts }, problems };
}

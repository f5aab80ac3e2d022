import { parseAccessList } from "../access-list.ts";
import type { FeedSpec } from "../feeds/feed-spec.ts";
import { findKey, keyFor } from "../keys.ts";
import { hasErrors, type Problem } from "../problem.ts";
import type { Search } from "../search/trials.ts";
import type { Settings } from "../settings.ts";
import { stopWithinMs } from "../silence.ts";
import type { AmSpec, CarrierSpec, FailureSpec, FileToShip, GroupLimit, JobSpec, RoleSpec, Timeouts } from "../spec.ts";
import { formatTaskId, type TaskId } from "../task.ts";
import { buildCarrier } from "./build-carrier.ts";
import { checkConstrained } from "./build-constrained.ts";
import { buildFeeds } from "./build-feeds.ts";
import { buildGroupLimits } from "./build-group-limits.ts";
import { checkImages, imageVariables } from "./build-images.ts";
import { buildMasterRole, buildRoles, readResource } from "./build-roles.ts";
import { buildSearch } from "./build-search.ts";
import { buildStages } from "./build-stages.ts";
import { checkContainerNames, type ListSources } from "./check-container-names.ts";
import { checkDriver, checkElastic, checkFramework, isOutlivingExits } from "./check-framework.ts";
import { checkHiddenExits, withPipefail } from "./check-hidden-exits.ts";
import { checkKeys } from "./check-keys.ts";
import { checkLeftOut, type FindLeftBehind } from "./check-left-out.ts";
import { checkProgramFiles } from "./check-program-files.ts";
import { checkLengths, checkVariables } from "./check-variables.ts";
import { JobReader } from "./job-reader.ts";
import { checkLimits } from "./limits.ts";
import type { LookUpPath } from "./resource-strings.ts";
import { shipOption } from "./submission.ts";

/** What a job's text is checked against. */
export interface JobContext {
  readonly workingDirectory: string;
  readonly lookUp: LookUpPath;
  /** Default: the content of an uploaded folder is unknown. */
  readonly listSources?: ListSources;
  readonly findLeftBehind?: FindLeftBehind;
  /** In addition to files that keys name: `submissionSettings().ship`. */
  readonly ship?: readonly FileToShip[];
  /** The places of keys without a value in the job's file. */
  readonly empty?: ReadonlyMap<string, string>;
}

export interface CheckedJob {
  /** Absent when there are errors. */
  readonly spec?: JobSpec;
  /** For a job that describes a search. */
  readonly search?: Search;
  readonly problems: readonly Problem[];
}

const UNTRACKED = "tony.application.untracked.jobtypes";
const SIDECAR = "tony.application.sidecar.jobtypes";
const OPEN_TO_ALL = [
  ["tony.application.acl.modify", "may end this job"],
  ["tony.application.acl.run", "may run commands in its containers as you, and read and write your files on HDFS"],
] as const;
const LEAST_VERDICT_MS = 15_000;
/** Hadoop's default expiry of an ApplicationMaster or node. */
const TEN_MINUTES_MS = 600_000;
const ORPHAN_MARGIN_MS = 180_000;
/**
 * Executors without an ApplicationMaster check the staging folder a few times per isolation timeout (executor/core/absence.ts). With
 * this value the job asks the NameNode at most 50 times a second, however many tasks it has.
 */
const ISOLATION_MS_PER_TASK = 70;

/** Makes the spec of a job from its settings, with every check that needs no cluster; all problems are reported at once. */
export function buildJobSpec(settings: Settings, context: JobContext): CheckedJob {
  const reader = new JobReader(settings, context);
  const asked = buildRoles(reader);
  const am = buildAm(reader, asked);
  const inMaster = buildMasterRole(reader, am, asked);
  const roles = inMaster === undefined ? asked : [inMaster, ...asked];
  const shared = reader.filesToShip("tony.containers.resources");
  const hadoop = reader.archive("tony.application.hadoop.location", "hadoop");
  const ship = (context.ship ?? []).flatMap((file) => reader.shipped(file, shipOption(file.as)));
  const files = [...shared, ...hadoop, ...ship];
  const keyProblems = checkKeys(settings);
  checkWhole(reader, roles, keyProblems);
  const staged = buildStages(reader, roles);
  checkFramework(
    reader,
    staged.filter(({ inMaster }) => inMaster === undefined),
  );
  checkDriver(reader);
  checkRights(reader);
  checkElastic(reader, asked);
  checkLimits(reader, asked);
  checkConstrained(reader, asked);
  checkImages(
    reader,
    asked.map(({ name }) => name),
  );
  checkNames(reader, files, am, roles);
  const named = [
    { key: "tony.containers.resources", files: shared, besideSources: true },
    { key: "tony.application.hadoop.location", files: hadoop, besideSources: true },
    { key: "tony.am.resources", files: am.files, besideSources: inMaster !== undefined },
    ...asked.map((role) => ({
      key: keyFor("tony.{role}.resources", { role: role.name }),
      files: role.files,
      besideSources: true,
    })),
  ];
  const list = context.listSources ?? (() => []);
  checkContainerNames(reader, named, { ship, list });
  checkProgramFiles(reader, roles, files, list);
  checkLeftOut(reader, roles, files, context.findLeftBehind ?? (() => undefined));
  checkHiddenExits(reader, roles);
  checkVariables(
    reader,
    asked.map(({ name }) => name),
  );
  const carrier = buildCarrier(reader);
  const groupLimits = buildGroupLimits(reader, staged);
  const search = buildSearch(reader, staged);
  const feeds = buildFeeds(reader, staged);
  checkEmpty(reader, context.empty ?? new Map());
  const problems = [...keyProblems, ...reader.problems];
  if (hasErrors(problems)) return { problems };
  const asRun = staged.map((role) => ({ ...withPipefail(reader, role), files: once(role.files, files) }));
  checkLengths(reader, asRun);
  if (hasErrors(reader.problems)) return { problems: [...keyProblems, ...reader.problems] };
  const master = { ...am, files: once(am.files) };
  const spec = assemble(reader, { roles: asRun, am: master, files: once(files), carrier, groupLimits, feeds });
  return { spec, ...(search === undefined ? {} : { search }), problems };
}

/** A list with everybody is often one that was written for a cluster without Kerberos. */
function checkRights(reader: JobReader): void {
  for (const [key, what] of OPEN_TO_ALL) {
    if (parseAccessList(reader.read(key)).everybody) reader.warn(key, `is *: every user of the cluster ${what}`);
  }
}

interface Parts {
  readonly roles: readonly RoleSpec[];
  readonly am: AmSpec;
  readonly files: readonly FileToShip[];
  readonly carrier: CarrierSpec | undefined;
  readonly groupLimits: readonly GroupLimit[];
  readonly feeds: readonly FeedSpec[];
}

function assemble(reader: JobReader, { roles, am, files, carrier, groupLimits, feeds }: Parts): JobSpec {
  const leadTask = leadTaskOf(roles);
  return {
    specVersion: 2,
    ...reader.section("job"),
    am,
    ...(isOutlivingExits(reader) && { outlivesExits: true }),
    roles,
    leadTask,
    tensorBoardTask: roles.some(({ name }) => name === "tensorboard") ? formatTaskId("tensorboard", 0) : leadTask,
    files,
    containerEnvironment: { ...classPathOf(reader), ...reader.read("tony.containers.envs") },
    failure: buildFailure(reader),
    timeouts: buildTimeouts(reader, roles),
    ...(carrier === undefined ? {} : { carrier }),
    ...(feeds.length === 0 ? {} : { feeds }),
    groupLimits,
    preemption: reader.section("preemption"),
    ports: reader.section("ports"),
    history: reader.section("history"),
    logs: reader.section("logs"),
    metrics: reader.section("metrics"),
    sources: sourcesOf(reader.settings),
  };
}

/** TonY's default for an ApplicationMaster whose container also runs a program. */
const MIB_WITH_PROGRAM = 2048;

function buildAm(reader: JobReader, asked: readonly RoleSpec[]): AmSpec {
  const nodeLabel = reader.read("tony.am.node-label") ?? reader.read("tony.application.node-label");
  const resource = readResource(reader, "am");
  const image = imageVariables(reader, "am");
  const runsProgram = asked.length === 0 || reader.read("tony.application.enable-preprocess");
  const widened = runsProgram && !reader.has("tony.am.memory");
  return {
    ...reader.section("am"),
    resource: widened ? { ...resource, memoryMiB: MIB_WITH_PROGRAM } : resource,
    ...(nodeLabel === undefined ? {} : { nodeLabel }),
    ...(image === undefined ? {} : { image }),
    files: reader.filesToShip("tony.am.resources"),
  };
}

/** TonY separates the paths with commas, as in yarn.application.classpath. */
function classPathOf(reader: JobReader): Readonly<Record<string, string>> {
  const classPath = reader.read("tony.application.hadoop.classpath")?.trim() ?? "";
  return classPath === "" ? {} : { CLASSPATH: classPath.split(/\s*,\s*/).join(":") };
}

function buildFailure(reader: JobReader): FailureSpec {
  return {
    ...reader.section("failure"),
    onWorkerFailure: reader.read("tony.application.fail-on-worker-failure-enabled") === false ? "tolerate" : "fail",
    budgets: reader.section("failure.budgets"),
    backOff: reader.section("failure.backOff"),
    blame: reader.section("failure.blame"),
  };
}

function buildTimeouts(reader: JobReader, roles: readonly RoleSpec[]): Timeouts {
  const section = reader.section("timeouts");
  const tasks = roles.reduce((sum, { instances }) => sum + instances, 0);
  const heartbeatExpiryMs = section.heartbeatIntervalMs * reader.read("tony.task.max-missed-heartbeats");
  const allStoppedMs = stopWithinMs({ ...section, heartbeatExpiryMs });
  return {
    ...section,
    heartbeatExpiryMs,
    verdictMs: reader.read("tony.failure.verdict-ms") ?? Math.max(allStoppedMs, LEAST_VERDICT_MS),
    isolationMs: Math.max(section.isolationMs, tasks * ISOLATION_MS_PER_TASK),
    orphanMs: orphanMs(reader),
  };
}

/** How long executors wait for an ApplicationMaster: longer than the cluster, which then starts another one. */
export function orphanMs(reader: JobReader, clusterExpiryMs = TEN_MINUTES_MS): number {
  return reader.read("tony.task.orphan-timeout") ?? Math.max(TEN_MINUTES_MS, clusterExpiryMs) + ORPHAN_MARGIN_MS;
}

/** `chief:0`; else `worker:0`, if the job waits for it; else the first tracked task; else the first task. */
function leadTaskOf(roles: readonly RoleSpec[]): TaskId {
  const tracked = roles.filter(({ tracking, inMaster }) => tracking === "tracked" && inMaster === undefined);
  const named = (name: string) => tracked.find((role) => role.name === name);
  const lead = named("chief") ?? named("worker") ?? tracked[0] ?? roles[0];
  return formatTaskId(lead?.name ?? "worker", 0);
}

/** Checks that concern the job as a whole. */
function checkWhole(reader: JobReader, roles: readonly RoleSpec[], keyProblems: readonly Problem[]): void {
  if (roles.length === 0 && keyProblems.some(({ key, severity }) => severity === "error" && isInstances(key))) {
    return;
  }
  const emptyCommand = ["tony.am.command", "tony.containers.command"].find((key) => reader.isEmpty(key));
  if (roles.length === 0 && emptyCommand !== undefined) {
    reader.error(emptyCommand, "is empty: write what the job runs, or set tony.worker.instances");
  } else if (roles.length === 0) {
    reader.error(
      "tony.worker.instances",
      "must be at least 1 for some role; a job without roles needs tony.am.command or tony.containers.command",
    );
  } else if (roles.every((role) => role.tracking !== "tracked")) {
    const [key, other] = reader.has(UNTRACKED) ? ([UNTRACKED, SIDECAR] as const) : ([SIDECAR, UNTRACKED] as const);
    reader.error(key, `and ${other} name every role, so that nothing would end the job: remove a role from them`);
  }
}

/** Reports keys without a value, unless they were already found to be wrong. */
function checkEmpty(reader: JobReader, empty: ReadonlyMap<string, string>): void {
  for (const key of empty.keys()) {
    const isSaid = reader.problems.some((problem) => problem.key === key) || reader.settings.has(key);
    if (key.startsWith("tony.") && !isSaid) reader.warn(key, "has no value and therefore no effect");
  }
}

/** Whether the key defines a role: if its value cannot be parsed, the missing role is not reported as a second problem. */
function isInstances(key: string | undefined): boolean {
  return key !== undefined && findKey(key)?.name === "tony.{role}.instances";
}

/** One folder cannot contain two files of the same name. */
function checkNames(reader: JobReader, files: readonly FileToShip[], am: AmSpec, roles: readonly RoleSpec[]): void {
  checkDistinct(reader, "tony.containers.resources", files);
  checkDistinct(reader, "tony.am.resources", am.files);
  for (const { name: role, files: own } of roles) {
    if (own.length > 0) checkDistinct(reader, keyFor("tony.{role}.resources", { role }), [...files, ...own]);
  }
}

function checkDistinct(reader: JobReader, key: string, files: readonly FileToShip[]): void {
  const seen = new Map<string, FileToShip>();
  for (const file of files) {
    const { name, source } = file;
    const before = seen.get(name);
    if (before !== undefined && before.source !== source) {
      reader.error(key, `puts two things at ${name}: ${before.source} and ${source}; rename one: SOURCE::NAME`);
    } else if (before !== undefined && before.as !== file.as) {
      reader.error(key, `puts ${source} at ${name} as it is and unpacked; rename one: SOURCE::NAME`);
    }
    seen.set(name, file);
  }
}

/** A file that is named twice, or that all roles have, is shipped once. */
function once(files: readonly FileToShip[], there: readonly FileToShip[] = []): readonly FileToShip[] {
  const names = new Set(there.map(({ name }) => name));
  return files.filter(({ name }) => !names.has(name) && names.add(name));
}

function sourcesOf(settings: Settings): Record<string, string> {
  return Object.fromEntries([...settings.values()].map(({ key, at }) => [key, at]));
}

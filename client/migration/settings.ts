import { checkKeys, supportWarning } from "../../src/job/build/check-keys.ts";
import { checkOtherNames } from "../../src/job/build/check-other-names.ts";
import { foreignSources } from "../../src/job/build/resource-strings.ts";
import { findKey, type KeyName, RESERVED_ROLE_NAMES } from "../../src/job/keys.ts";
import type { Problem } from "../../src/job/problem.ts";
import { mergeSettings, type Setting } from "../../src/job/settings.ts";
import type { MigrationKind, MigrationRemark } from "../printed-json.ts";

/** What happens to one setting of a TonY job. */
export interface MigratedSetting {
  readonly setting: Setting;
  readonly remark: MigrationRemark;
  /** The new name; absent: the setting is left out. */
  readonly key?: string;
}

interface Judgement {
  readonly kind: MigrationKind;
  readonly message: string;
  readonly key?: string;
}

/** Keys that work here but do something else than in TonY; undefined where this value does the same. */
const differences: Partial<Record<KeyName, (value: string) => string | undefined>> = {
  "tony.{role}.depends-on": () => "TonY does not read it; here the role starts when those are done",
  "tony.application.prepare-stage": () => "these roles must succeed; in TonY any exit code begins the training stage",
  "tony.application.training-stage": () => "the roles before it must succeed; in TonY any exit code begins it",
  "tony.containers.envs": (value) =>
    /\$\(|`/.test(value) ? "commands in it are not run: only variables such as $NAME are expanded" : undefined,
};

/** Migrates each setting of a TonY job, in order, by the table of keys; of several settings with one name the last one counts. */
export function migrateSettings(settings: readonly Setting[]): MigratedSetting[] {
  const inForce = mergeSettings(settings).settings;
  const problems = new Map([...checkKeys(inForce), ...checkOtherNames(inForce)].map((found) => [found.key, found]));
  // A file may hold only a part of a job's settings, and name roles that other files define.
  const hasRoles = [...inForce.keys()].some((key) => findKey(key)?.name === "tony.{role}.instances");
  const problemOf = (key: string) => {
    const problem = problems.get(key);
    const isOfRoles = problem?.severity === "warning" && findKey(key) !== undefined;
    return isOfRoles && !hasRoles ? undefined : problem;
  };
  const isHorovod = /^horovod$/i.test(inForce.get("tony.application.framework")?.value ?? "");
  return settings.map((setting) => {
    const last = settings.findLast(({ key }) => key === setting.key);
    const { key, ...said } =
      last === undefined || last === setting
        ? (driver(setting, isHorovod) ?? renamed(setting, inForce) ?? judge(setting, problemOf(setting.key), inForce))
        : leftOut(`${setting.key} has no effect: ${last.at} sets it again`);
    return { setting, remark: { ...said, at: setting.at }, ...(key === undefined ? {} : { key }) };
  });
}

/** A property of a flow, or a variable of a script. */
const VARIABLE = /\$\{[^}]+\}|\$\w+/;

function judge(setting: Setting, problem: Problem | undefined, inForce: ReadonlyMap<string, unknown>): Judgement {
  const { key, value } = setting;
  const found = findKey(key);
  if (found === undefined) return unknown(key, problem, inForce);
  const { definition, name } = found;
  if (problem?.severity === "error" && VARIABLE.test(value))
    return { kind: "stays", message: `${key}: what ${value} stands for is not known here`, key };
  if (problem?.severity === "error") return { kind: "to-mend", message: problem.message, key };
  const foreign = /resources$/.test(name) ? foreignSources(value) : [];
  if (foreign.length > 0)
    return { kind: "to-mend", message: `${key}: ${foreign.map((item) => item.trim()).join(", ")} ${FOREIGN}`, key };
  const warning = supportWarning(key, definition);
  if (warning !== undefined) return leftOut(warning);
  if (value.startsWith(PLACEHOLDER))
    return leftOut(`${key} has no effect: ${value} is a placeholder of TonY's defaults`);
  const difference = differences[name]?.(value);
  if (difference !== undefined) return { kind: "changes", message: `${key}: ${difference}`, key };
  return { kind: "stays", message: problem?.message ?? key, key };
}

/** The value of `tony.history.location` and of the keys below it in tony-default.xml. */
const PLACEHOLDER = "/path/to/tony-history";

const FOREIGN =
  "can stay, if HADOOP_HOME names a Hadoop with the connector where the job is submitted; otherwise set tony.application.file-status";

/** Keys whose files TonY uploads, whether such a role exists or not (com.linkedin.tony.TonyClient#processTonyConfResources). */
const UPLOADED = /tony\.[a-z]+\.resources/;

/** TonY ignores unknown keys. Keys that do not begin with `tony.` are Hadoop's, or another program's. */
function unknown(key: string, problem: Problem | undefined, inForce: ReadonlyMap<string, unknown>): Judgement {
  if (key.startsWith("tony.") && problem?.severity === "error") {
    const [, role = ""] = key.split(".");
    if (RESERVED_ROLE_NAMES.has(role) && inForce.has(`tony.${role}.instances`))
      return { kind: "to-mend", message: `${problem.message}; TonY runs such tasks: give the role another name`, key };
    return leftOut(
      `${problem.message} (TonY ${UPLOADED.test(key) ? "uploads what it names, for no task" : "ignores it"})`,
    );
  }
  if (key.startsWith("tony.")) return leftOut(problem?.message ?? key);
  return problem === undefined
    ? { kind: "stays", message: key, key }
    : { kind: "to-mend", message: problem.message, key };
}

/** TonY lets only itself set the driver of Horovod, except for debugging. */
function driver({ key }: Setting, isHorovod: boolean): Judgement | undefined {
  if (!isHorovod || !key.startsWith("tony.driver.")) return undefined;
  return leftOut(`${key} has no effect: the executor of rank 0 serves Horovod's rendezvous`);
}

/** A name from TonY's earlier releases is treated as its later name. */
function renamed(setting: Setting, inForce: ReadonlyMap<string, unknown>): Judgement | undefined {
  const to = findKey(setting.key)?.definition.renamedTo;
  if (to === undefined) return undefined;
  if (inForce.has(to)) return leftOut(`${setting.key} has no effect: TonY renamed it to ${to}, which is set`);
  const now = judge({ ...setting, key: to }, undefined, inForce);
  return now.kind === "stays" ? { kind: "changes", message: `${setting.key} is now called ${to}`, key: to } : now;
}

function leftOut(message: string): Judgement {
  return { kind: "no-meaning", message };
}

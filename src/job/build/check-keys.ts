import { errorMessage } from "../../hadoop/errors.ts";
import type { KeyDefinition } from "../keys/key.ts";
import { environment, splitList } from "../keys/types.ts";
import { findKey, type KeyName, keyFor, keys, RESERVED_ROLE_NAMES } from "../keys.ts";
import { nearest } from "../nearest.ts";
import type { Problem } from "../problem.ts";
import { nameLike } from "../search/space.ts";
import type { EffectiveSetting, Settings } from "../settings.ts";
import { ROLE_NAME, ROLE_NAME_WORDS } from "../task.ts";

/**
 * Checks every `tony.` setting against the table of keys. Errors: names that resemble a key, and values of the wrong type. Warnings: keys
 * that do nothing here, keys of a role that the job does not have, and names that resemble no key, which TonY ignores: files contain keys
 * of their users' own.
 */
export function checkKeys(settings: Settings): Problem[] {
  const roles = roleNames(settings);
  const problems: Problem[] = [];
  for (const setting of settings.values()) {
    if (!setting.key.startsWith("tony.")) continue;
    const problem = checkSetting(setting, roles);
    if (problem !== undefined) problems.push({ ...problem, key: setting.key, at: setting.at });
  }
  return problems;
}

/** The roles of the job, in the order in which they were first given instances. */
export function roleNames(settings: Settings): string[] {
  const roles: string[] = [];
  for (const key of settings.keys()) {
    const found = findKey(key);
    if (found?.name === "tony.{role}.instances" && found.parameters.role !== undefined)
      roles.push(found.parameters.role);
  }
  return roles;
}

function checkSetting(setting: EffectiveSetting, roles: readonly string[]): Omit<Problem, "key" | "at"> | undefined {
  const found = findKey(setting.key);
  if (found === undefined) return unknownKey(setting, roles);
  const { definition, name, parameters } = found;
  try {
    definition.type.parse(setting.value);
  } catch (error) {
    return { severity: "error", message: `${setting.key} must be ${errorMessage(error)}` };
  }
  // A site's file applies to every job; the person who sees the warning did not write it.
  if (setting.layer === "site" || definition.quiet) return undefined;
  const warning = unusedRole(setting.key, name, parameters.role, roles) ?? supportWarning(setting.key, definition);
  if (warning !== undefined) return { severity: "warning", message: warning };
  const doubt = doubtfulValue(name, definition, setting);
  return doubt === undefined ? undefined : { severity: "warning", message: `${setting.key} ${doubt}` };
}

/** The warning for a value that is read as TonY does, but differently than it looks. */
function doubtfulValue(name: KeyName, { type }: KeyDefinition, setting: EffectiveSetting): string | undefined {
  if (type.label === environment.label) return doubtfulVariable(setting);
  const { value } = setting;
  const isTooLittle = name.endsWith(".memory") && Number(value) > 0 && Number(value) < LEAST_MIB;
  return isTooLittle ? `= ${value} is ${value} MiB: write ${value}g for GiB` : undefined;
}

/** No program runs in less: a smaller bare number was meant in GiB. */
const LEAST_MIB = 64;

/** The option sets one variable, verbatim. */
function doubtfulVariable({ value, at }: EffectiveSetting): string | undefined {
  if (at.startsWith("--")) return undefined;
  for (const item of splitList(value)) {
    const [name, ...rest] = item.split("=");
    if (rest.length === 0) return `sets ${name} to nothing: write ${name}=VALUE, or ${name}= where that is meant`;
    const [, second] = /;\s*([A-Z_][A-Z0-9_]*)=/.exec(rest.join("=")) ?? [];
    if (second !== undefined) return `makes ${second} a part of ${name}: separate variables with a comma, not with ;`;
  }
  return undefined;
}

function unknownKey(
  { key, layer }: EffectiveSetting,
  roles: readonly string[],
): Omit<Problem, "key" | "at"> | undefined {
  const [, role = "", ...rest] = key.split(".");
  const fit = ROLE_NAME.test(role);
  const reserved = RESERVED_ROLE_NAMES.has(role);
  if ((reserved || !fit) && findKey(["tony", "worker", ...rest].join("."))?.name.startsWith("tony.{role}.") === true) {
    if (fit && rest[0] !== "instances") {
      const message = `${key} is not a key: each role has one of its own, as ${["tony", "worker", ...rest].join(".")}`;
      return { severity: "error", message };
    }
    const rule = fit ? "" : `, which is of ${ROLE_NAME_WORDS}`;
    return { severity: "error", message: `${key} is not a key: ${role} cannot be the name of a role${rule}` };
  }
  const [, parameter] = /^tony\.search\.param\.(.+)$/s.exec(key) ?? [];
  if (parameter !== undefined) {
    const message = `${key} is not a key: write the parameter's name with letters, digits and _, such as ${nameLike(parameter)}`;
    return { severity: "error", message };
  }
  const own = fit && !reserved ? [role] : [];
  const feeds = role === "feed" ? rest.slice(0, 1) : [];
  const suggestion = nearest(key, knownKeys([...roles, ...own], feeds, rest.at(-1)));
  if (suggestion !== undefined)
    return { severity: "error", message: `${key} is not a key; did you mean ${suggestion}?` };
  // TonY has no search: no existing file has custom keys there.
  if (role === "search" && layer !== "site")
    return { severity: "error", message: `${key} is not a key of a search (tony-ts keys search lists them all)` };
  // The person who submits a job did not write the site's file.
  return layer === "site" ? undefined : { severity: "warning", message: `${key} has no effect: ${NO_KEY}` };
}

const NO_KEY = "neither TonY nor tony-ts has such a key (tony-ts keys lists them all)";

/** Every key that could be meant, with the templates filled for these roles and feeds, and this search parameter. */
function* knownKeys(roles: readonly string[], feeds: readonly string[], param = ""): Generator<string> {
  for (const name of Object.keys(keys)) {
    if (name.includes("{role}")) for (const role of new Set([...roles, "worker"])) yield name.replace("{role}", role);
    else if (name.includes("{feed}")) for (const feed of feeds) yield name.replace("{feed}", feed);
    else yield name.replace("{param}", param);
  }
}

/** `tensorboard` is a role as soon as there is a log folder, `driver` in TonY's Horovod. */
const IMPLIED_ROLES: ReadonlySet<string> = new Set(["tensorboard", "driver", "am"]);

function unusedRole(
  key: string,
  name: KeyName,
  role: string | undefined,
  roles: readonly string[],
): string | undefined {
  if (role === undefined || roles.includes(role) || IMPLIED_ROLES.has(role) || name === "tony.{role}.max-instances") {
    return undefined;
  }
  const suggestion = nearest(role, roles);
  const hint = suggestion === undefined ? "" : `; did you mean ${keyFor(name, { role: suggestion })}?`;
  return `${key} has no effect: the job has no role ${role} (tony.${role}.instances is not set)${hint}`;
}

/** The warning for a key that does nothing here; undefined for one that works. */
export function supportWarning(key: string, { support, note }: KeyDefinition): string | undefined {
  if (support === "works") return undefined;
  return `${key} has no effect${note === undefined ? "" : `: ${note}`}`;
}

import type { XmlProperty } from "../hadoop/conf/xml.ts";
import { accessControlList, joinLists } from "./keys/types.ts";
import { findKey } from "./keys.ts";
import type { Problem } from "./problem.ts";

/** Where a setting was made, in increasing rank: the job's file, the site's file, the command line. */
export type SettingLayer = "job" | "site" | "option";

/** One key with the text that it was given. */
export interface Setting {
  readonly key: string;
  readonly value: string;
  readonly layer: SettingLayer;
  /** `job.xml:16`, `-conf`, `--shell_env` */
  readonly at: string;
  /** The file that contains it. */
  readonly file?: string;
  /** Later settings do not change it; has a meaning in the site's file only. */
  readonly final: boolean;
}

/** The setting in force, and those that it replaced, latest first. */
export interface EffectiveSetting extends Setting {
  readonly overrides: readonly Setting[];
}

/** By key, in the order in which the keys were first set; without defaults. */
export type Settings = ReadonlyMap<string, EffectiveSetting>;

export interface MergedSettings {
  readonly settings: Settings;
  readonly problems: readonly Problem[];
}

/** The properties of a file as settings. Empty elements set nothing, as in Hadoop. */
export function settingsOf(properties: Iterable<XmlProperty>, layer: "job" | "site"): Setting[] {
  const settings: Setting[] = [];
  for (const { name, value, final, file, line } of properties) {
    if (value !== undefined)
      settings.push({ key: name, value: plainText(name, value), layer, at: `${file}:${line}`, file, final });
  }
  return settings;
}

/** The text without surrounding blanks, except the one that makes an access list name groups only: ` ml`. */
export function plainText(key: string, value: string): string {
  const isOfGroups = findKey(key)?.definition.type === accessControlList && /^[ \t]+\S/.test(value);
  return isOfGroups ? ` ${value.trim()}` : value.trim();
}

/** The keys of a file whose elements are empty, each with its place. */
export function emptyKeys(properties: Iterable<XmlProperty>): ReadonlyMap<string, string> {
  const empty = [...properties].filter(({ value }) => value === undefined);
  return new Map(empty.map(({ name, file, line }) => [name, `${file}:${line}`]));
}

/** Replaces earlier key names by the later ones that TonY gave them; an earlier name has no effect where its later name is set too. */
export function underLaterNames(settings: readonly Setting[]): {
  readonly settings: readonly Setting[];
  readonly problems: readonly Problem[];
} {
  const problems: Problem[] = [];
  const renamed = settings.flatMap((setting) => {
    const { key, layer, at } = setting;
    const later = findKey(key)?.definition.renamedTo;
    if (later === undefined) return [setting];
    const isSet = settings.some((other) => other.key === later && other.layer === layer);
    const message = isSet
      ? `${key} has no effect: it is an older name of ${later}, which is set`
      : `${key} is an older name of ${later}, and is read as that`;
    if (layer !== "site") problems.push({ severity: "warning", message, key, at });
    return isSet ? [] : [{ ...setting, key: later }];
  });
  return { settings: renamed, problems };
}

/**
 * Merges settings: the job's file, then the site's, whose final keys win, then the command line, which adds to multi-valued keys
 * and replaces others. Settings that the site's file overrides, and those that the job's file repeats, give warnings.
 * @param settings in that order
 */
export function mergeSettings(settings: Iterable<Setting>): MergedSettings {
  const merged = new Map<string, EffectiveSetting>();
  const problems: Problem[] = [];
  for (const setting of settings) {
    const before = merged.get(setting.key);
    if (before?.layer === "site" && before.final) {
      if (before.value !== setting.value) problems.push(overruled(setting, before));
    } else {
      merged.set(setting.key, before === undefined ? { ...setting, overrides: [] } : over(before, setting));
    }
  }
  for (const setting of merged.values()) problems.push(...replaced(setting), ...repeated(setting));
  return { settings: merged, problems };
}

function over({ overrides, ...before }: EffectiveSetting, setting: Setting): EffectiveSetting {
  const adds = setting.layer === "option" && findKey(setting.key)?.definition.multiValued === true;
  const value = adds && before.value !== "" ? joinLists(before.value, setting.value) : setting.value;
  return { ...setting, value, overrides: [before, ...overrides] };
}

function overruled(setting: Setting, by: Setting): Problem {
  const how = by.final ? `declares it final, ${by.value}` : `sets ${by.value}, and only the command line overrides it`;
  return {
    severity: "warning",
    message: `${setting.key} = ${setting.value} has no effect: ${by.at} ${how}`,
    key: setting.key,
    at: setting.at,
  };
}

/** The site's file overrides the job's, whose writer may not know that. */
function replaced(setting: EffectiveSetting): Problem[] {
  const own = setting.overrides.find(({ layer }) => layer === "job");
  return setting.layer === "site" && own !== undefined && own.value !== setting.value ? [overruled(own, setting)] : [];
}

/** The last setting in a file wins, as in Hadoop, which its writer may not know. Settings from an included file may be repeated on purpose. */
function repeated(setting: EffectiveSetting): Problem[] {
  const [last, ...before] = [setting, ...setting.overrides].filter(({ layer }) => layer === "job");
  const places = before.filter(({ file }) => file === last?.file).map(({ at }) => at);
  if (last === undefined || places.length === 0) return [];
  const lost = `${places.reverse().join(" and ")} ${places.length === 1 ? "has" : "have"} no effect`;
  const message = `${last.key} is set more than once: this line wins, ${lost}`;
  return [{ severity: "warning", message, key: last.key, at: last.at }];
}

/** The job's own Hadoop settings: every setting outside `tony.`, which overrides the cluster's configuration. */
export function hadoopSettings(settings: Settings): Record<string, string> {
  const own = [...settings.values()].filter(({ key }) => !key.startsWith("tony."));
  return Object.fromEntries(own.map(({ key, value }) => [key, value]));
}

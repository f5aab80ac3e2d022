import { amKeys } from "./keys/am.ts";
import { applicationKeys } from "./keys/application.ts";
import { carrierKeys } from "./keys/carrier.ts";
import { costKeys } from "./keys/cost.ts";
import { failureKeys } from "./keys/failure.ts";
import { feedKeys } from "./keys/feed.ts";
import { imageKeys } from "./keys/image.ts";
import type { KeyDefinition, SpecSection } from "./keys/key.ts";
import { notifyKeys } from "./keys/notify.ts";
import { olderKeys } from "./keys/older.ts";
import { roleKeys } from "./keys/role.ts";
import { searchKeys } from "./keys/search.ts";
import type { RowValue, SectionFields } from "./keys/section.ts";
import { siteKeys } from "./keys/site.ts";
import { taskKeys } from "./keys/task.ts";

/**
 * Every existing key: validation, `tony-ts keys`, docs/reference/keys.md and the fields of JobSpec that have a key's value come from here.
 * `{role}`, `{group}`, `{resource}`, `{field}`, `{param}` and `{feed}` stand for any name.
 */
export const keys = {
  ...applicationKeys,
  ...roleKeys,
  ...taskKeys,
  ...amKeys,
  ...notifyKeys,
  ...costKeys,
  ...failureKeys,
  ...carrierKeys,
  ...searchKeys,
  ...feedKeys,
  ...imageKeys,
  ...siteKeys,
  ...olderKeys,
} as const;

/** A row's name: `tony.yarn.queue`, `tony.{role}.memory`. */
export type KeyName = keyof typeof keys;

/** The type of a key's parsed value. */
export type KeyValue<K extends KeyName> = RowValue<(typeof keys)[K]>;

/** The fields of JobSpec that are the value of one key each. */
export type SectionOf<S extends SpecSection> = SectionFields<typeof keys, S>;

/** What the placeholders of a template stand for in one written key: `{role}` → `worker`. */
export type KeyParameters = Readonly<
  Partial<Record<"role" | "group" | "resource" | "field" | "param" | "feed", string>>
>;

export interface MatchedKey {
  readonly name: KeyName;
  readonly definition: KeyDefinition;
  readonly parameters: KeyParameters;
}

/** TonY's pattern is `[a-z]+`; names of roles may contain digits and dashes here, resource types dots and slashes (yarn.io/gpu). */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  role: "[a-z][a-z0-9-]*",
  group: "[A-Za-z][A-Za-z0-9_-]*",
  resource: "[A-Za-z][A-Za-z0-9._/-]*",
  field: "[a-z]+",
  // The valid names are checked where they are parsed.
  param: "\\S+",
  feed: "[a-z][a-z0-9_-]*",
};

const templates = Object.keys(keys)
  .filter(isName)
  .filter((name) => name.includes("{"))
  .map((name) => ({ name, pattern: templatePattern(name) }));

function isName(key: string): key is KeyName {
  return Object.hasOwn(keys, key);
}

function templatePattern(template: string): RegExp {
  const source = template
    .split(/\{(\w+)\}/)
    .map((part, index) => (index % 2 === 0 ? part.replaceAll(".", "\\.") : `(?<${part}>${PLACEHOLDERS[part]})`));
  return new RegExp(`^${source.join("")}$`);
}

/**
 * Second words of TonY's own keys, so no role may have these names; `am` has its own keys in addition to those of
 * roles. `driver` and `tensorboard` are roles.
 */
export const RESERVED_ROLE_NAMES: ReadonlySet<string> = new Set([
  "am",
  "application",
  "container",
  "containers",
  "docker",
  "execution",
  "history",
  "horovod",
  "task",
]);

/** The row that a written key belongs to; undefined when there is none. An exact name takes precedence over a template. */
export function findKey(key: string): MatchedKey | undefined {
  if (isName(key) && !key.includes("{")) return { name: key, definition: keys[key], parameters: {} };
  for (const { name, pattern } of templates) {
    const groups = pattern.exec(key)?.groups;
    if (groups === undefined) continue;
    if (name.startsWith("tony.{role}.") && RESERVED_ROLE_NAMES.has(groups.role ?? "")) continue;
    return { name, definition: keys[name], parameters: { ...groups } };
  }
  return undefined;
}

/** A row's name with its placeholders filled: the key as a person writes it. */
export function keyFor(name: KeyName, parameters: KeyParameters = {}): string {
  return name.replaceAll(
    /\{(\w+)\}/g,
    (placeholder, parameter: keyof KeyParameters) => parameters[parameter] ?? placeholder,
  );
}

import { roleNames } from "./build/check-keys.ts";
import type { KeyDefinition, KeySupport } from "./keys/key.ts";
import { findKey, keys } from "./keys.ts";
import type { Settings } from "./settings.ts";

/** One key as `tony-ts keys` shows it. */
export interface ListedKey {
  readonly key: string;
  readonly type: string;
  /** The default, or the value in force. */
  readonly value?: string;
  /** Where it was set; absent: it was not. */
  readonly at?: string;
  readonly doc: string;
  readonly support: KeySupport | "unknown";
  readonly note?: string;
}

/** Every existing key, with its default. */
export function listKeys(): ListedKey[] {
  return Object.entries<KeyDefinition>(keys).map(([key, definition]) => ({
    key,
    ...described(definition),
    ...(definition.default === undefined ? {} : { value: definition.default }),
  }));
}

/** The keys that a job sets, in the order of its files, then the defaults of all other keys that have one. */
export function effectiveKeys(settings: Settings): ListedKey[] {
  const set = [...settings.values()].map(({ key, value, at }): ListedKey => {
    const found = findKey(key);
    const about =
      found === undefined ? { type: "text", doc: "", support: "unknown" as const } : described(found.definition);
    return { key, ...about, value, at };
  });
  const rest = listKeys()
    .flatMap((listed) => forRoles(listed, roleNames(settings)))
    .filter(({ key, value }) => value !== undefined && !key.includes("{") && !settings.has(key));
  return [...set, ...rest];
}

/** `tony.{role}.memory` once for each role of the job. */
function forRoles(listed: ListedKey, roles: readonly string[]): ListedKey[] {
  if (!listed.key.startsWith("tony.{role}.")) return [listed];
  return roles.map((role) => ({ ...listed, key: listed.key.replace("{role}", role) }));
}

function described({ type, doc, support, note }: KeyDefinition): Pick<ListedKey, "type" | "doc" | "support" | "note"> {
  return { type: type.label, doc, support, ...(note === undefined ? {} : { note }) };
}

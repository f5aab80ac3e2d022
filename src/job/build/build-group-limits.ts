import { findKey, keyFor } from "../keys.ts";
import { listWords } from "../reasons/words.ts";
import type { GroupLimit, RoleSpec } from "../spec.ts";
import { isAfter } from "../stages.ts";
import { missingRole } from "./build-roles.ts";
import type { JobReader } from "./job-reader.ts";

/** How long roles may run on after groups of others have ended, in the order of the job file; impossible limits are errors. */
export function buildGroupLimits(reader: JobReader, roles: readonly RoleSpec[]): GroupLimit[] {
  return [...reader.settings.keys()].flatMap((key) => {
    const { name, parameters } = findKey(key) ?? {};
    const { role, group } = parameters ?? {};
    const isLimit = name === "tony.application.dependency.{role}.timeout.after.{group}";
    if (name === "tony.application.dependency.{role}.timeout.after.{group}.ignored") checkIgnored(reader, key);
    if (name === "tony.application.group.{group}" && group !== undefined) checkUsed(reader, key, group);
    return isLimit && role !== undefined && group !== undefined ? buildLimit(reader, roles, { key, role, group }) : [];
  });
}

function checkIgnored(reader: JobReader, key: string): void {
  const limit = key.replace(/\.ignored$/, "");
  if (!reader.settings.has(limit)) reader.warn(key, `has no effect without ${limit}`);
}

/** A site's file may define groups that only some of its jobs have a limit for. */
function checkUsed(reader: JobReader, key: string, group: string): void {
  const isUsed = [...reader.settings.keys()].some((other) => {
    const { name, parameters } = findKey(other) ?? {};
    return name === "tony.application.dependency.{role}.timeout.after.{group}" && parameters?.group === group;
  });
  if (isUsed || reader.settings.get(key)?.layer === "site") return;
  reader.warn(
    key,
    `has no effect: no ${keyFor("tony.application.dependency.{role}.timeout.after.{group}", { group })} names it`,
  );
}

function buildLimit(
  reader: JobReader,
  roles: readonly RoleSpec[],
  { key, role, group }: { readonly key: string; readonly role: string; readonly group: string },
): GroupLimit[] {
  const limitMs = reader.read("tony.application.dependency.{role}.timeout.after.{group}", { role, group });
  const named = reader.read("tony.application.group.{group}", { group });
  const groupKey = keyFor("tony.application.group.{group}", { group });
  if (named === undefined) {
    reader.error(key, `needs ${groupKey} to name the roles of ${group}`);
    return [];
  }
  if (named.includes(role)) {
    reader.error(key, `makes ${role} wait for itself: take it out of ${groupKey}`);
    return [];
  }
  const names = roles.map(({ name }) => name);
  for (const missing of named.filter((member) => !names.includes(member))) {
    reader.warn(groupKey, missingRole(missing, names));
  }
  const members = named.filter((member) => names.includes(member));
  const isThere = names.includes(role);
  const late = members.filter((member) => isAfter(roles, member, role));
  if (late.length > 0 && isThere) {
    const words = `${listWords(late)} ${late.length === 1 ? "is" : "are"} asked for only when ${role} is done`;
    reader.warn(key, `never takes effect: ${words}; take it out, or out of ${groupKey}`);
  }
  if (limitMs === undefined || members.length === 0 || !isThere) return [];
  const isIgnored = reader.read("tony.application.dependency.{role}.timeout.after.{group}.ignored", { role, group });
  return [{ role, group, roles: members, limitMs, atLimit: isIgnored ? "untrack" : "fail" }];
}

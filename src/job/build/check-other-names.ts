import { hadoopPrefixes } from "../../hadoop/conf/defaults.ts";
import { findKey } from "../keys.ts";
import { nearest } from "../nearest.ts";
import type { Problem } from "../problem.ts";
import type { EffectiveSetting, Settings } from "../settings.ts";

/**
 * Checks the names outside `tony.`: Hadoop's override the cluster's configuration, and a value may refer to any name as `${name}`.
 * A name that would be a key with `tony.` in front is a mistake. Any other unused name gets a remark where it was typed for this
 * submission; a file may contain settings for other programs.
 * @param settings as written, not expanded
 */
export function checkOtherNames(settings: Settings): Problem[] {
  const texts = [...settings.values()].map(({ value }) => value);
  return [...settings.values()].flatMap((setting) => {
    if (setting.layer === "site" || setting.key.startsWith("tony.")) return [];
    if (texts.some((text) => text.includes(`\${${setting.key}}`))) return [];
    return checkName(setting) ?? [];
  });
}

function checkName({ key, at, layer }: EffectiveSetting): Problem | undefined {
  const typed = layer === "option";
  const meant = meantKey(key);
  if (meant !== undefined) {
    const message = `${key} is not a key: those of a job begin with tony.; did you mean ${meant}?`;
    return { severity: typed ? "error" : "warning", message, key, at };
  }
  if (!typed || isHadoops(key)) return undefined;
  const message = `${key} has no effect: it is neither a key of tony-ts, which all begin with tony., nor a Hadoop setting`;
  return { severity: "warning", message, key, at };
}

/** `worker.memory` and `tonny.worker.memory` mean `tony.worker.memory`. The first word of a Hadoop setting is never taken for a role. */
function meantKey(name: string): string | undefined {
  const [first = "", ...rest] = name.split(".");
  const key = ["tony", ...(nearest(first, ["tony"]) === undefined ? [first] : []), ...rest].join(".");
  const found = findKey(key);
  return found === undefined || hadoopPrefixes.has(found.parameters.role ?? "") ? undefined : key;
}

function isHadoops(name: string): boolean {
  return hadoopPrefixes.has(name.split(".")[0] ?? "");
}

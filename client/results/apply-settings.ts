import { readFileSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import type { AdvisedChange, AdvisedSetting } from "../../src/advice/advise.ts";
import { UserError, usageError } from "../../src/errors.ts";
import { withValues } from "../../src/hadoop/conf/edit-xml.ts";
import { readPropertiesFile, type XmlProperty } from "../../src/hadoop/conf/xml.ts";
import { decodeXml } from "../../src/hadoop/conf/xml-encoding.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { roleKeys } from "../../src/job/keys/role.ts";
import type { KeyType } from "../../src/job/keys/types.ts";
import { replaceFile } from "../../src/local-files.ts";

/** The keys that advice is given on. */
const sizes = new Map<string, { readonly type: KeyType<number>; readonly default: string }>([
  ["memory", roleKeys["tony.{role}.memory"]],
  ["vcores", roleKeys["tony.{role}.vcores"]],
  ["gpus", roleKeys["tony.{role}.gpus"]],
]);

/** What happened to advice that was applied to a file. */
export interface Applied {
  readonly written: readonly AdvisedSetting[];
  /** Settings that already have a value in the file, or by default, which meets the need. */
  readonly kept: readonly AdvisedSetting[];
}

/**
 * Writes settings into a job's file; its comments and layout stay. The runs may have had other values than the file: the file's values count.
 * @throws UserError, with nothing written, where the file is another job's, is missing, or cannot be written
 */
export function applySettings(name: string, changes: readonly AdvisedChange[], workingDirectory: string): Applied {
  const file = path.resolve(workingDirectory, name);
  const known = readPropertiesFile(file);
  for (const { key } of changes) {
    const role = key.slice(0, key.lastIndexOf("."));
    if (known.some((property) => property.name.startsWith(`${role}.`))) continue;
    throw usageError(`${name} has no key of ${role}: is it the file of this job? Nothing was written`);
  }
  const kept = changes.flatMap((change) => keptOf(change, known));
  const written = changes
    .filter(({ key }) => !kept.some((one) => one.key === key))
    .map(({ key, value }) => ({ key, value }));
  if (written.length > 0) write(file, name, written);
  return { written, kept };
}

/** The setting's value in the file; nothing where it has to change, or cannot be compared because it contains a variable. */
function keptOf({ key, value, isMore }: AdvisedChange, known: readonly XmlProperty[]): AdvisedSetting[] {
  const definition = sizes.get(key.slice(key.lastIndexOf(".") + 1));
  const present = known.findLast(({ name }) => name === key)?.value ?? definition?.default;
  if (definition === undefined || present === undefined) return [];
  try {
    const [has, needs] = [definition.type.parse(present), definition.type.parse(value)];
    const stays = isMore ? has >= needs : has <= needs;
    return stays ? [{ key, value: present }] : [];
  } catch {
    return [];
  }
}

function write(file: string, name: string, settings: readonly AdvisedSetting[]): void {
  const bytes = readFileSync(file);
  const text = decodeXml(bytes, name);
  if (!Buffer.from(text).equals(bytes))
    throw usageError(`${name} is not plain UTF-8: store it so, or write the settings into it yourself`);
  try {
    const target = realpathSync(file);
    const edited = withValues(text, file, new Map(settings.map(({ key, value }) => [key, value])));
    replaceFile(target, edited, { mode: statSync(target).mode & 0o777 });
  } catch (cause) {
    throw new UserError(`${name} cannot be written: ${errorMessage(cause)}`, { code: "FILE_NOT_WRITTEN", cause });
  }
}

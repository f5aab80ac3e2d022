import { readFileSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import type { AdvisedSetting } from "../../src/advice/advise.ts";
import { UserError, usageError } from "../../src/errors.ts";
import { withValues } from "../../src/hadoop/conf/edit-xml.ts";
import { readPropertiesFile } from "../../src/hadoop/conf/xml.ts";
import { decodeXml } from "../../src/hadoop/conf/xml-encoding.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { replaceFile } from "../../src/local-files.ts";

/**
 * Writes settings into a job's file, whose comments and layout stay.
 * @throws UserError, and nothing was written, where it is another job's, or cannot be written
 */
export function applySettings(name: string, settings: readonly AdvisedSetting[], workingDirectory: string): void {
  const file = path.resolve(workingDirectory, name);
  const known = readPropertiesFile(file);
  for (const { key } of settings) {
    const role = key.slice(0, key.lastIndexOf("."));
    if (known.some((property) => property.name.startsWith(`${role}.`))) continue;
    throw usageError(`${name} has no key of ${role}: is it the file of this job? Nothing was written`);
  }
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

import { formatLocation, type SourceLocation } from "../../src/hadoop/conf/errors.ts";
import { type WrittenProperty, writeProperties } from "../../src/hadoop/conf/write-xml.ts";
import { parseProperties } from "../../src/hadoop/conf/xml.ts";
import { settingsOf } from "../../src/job/settings.ts";
import type { MigrationRemark } from "../printed-json.ts";
import { migrateSettings } from "./settings.ts";

/** A file's new text, and what happened to each line. */
export interface MigratedText {
  readonly text: string;
  readonly remarks: readonly MigrationRemark[];
}

export interface MigratedJob extends MigratedText {
  /** Whether the file says what a role runs. */
  readonly hasCommand: boolean;
}

/** The key that decides when TonY considers a job failed. */
const FAILURE_KEY = "tony.application.fail-on-worker-failure-enabled";

/**
 * Migrates a TonY job's file; the files that it includes take the place of their includes.
 * @param readText of the files that it includes
 * @throws ConfigurationError naming file and line
 */
export function migrateJobFile(
  text: string,
  file: string,
  readText: (path: string) => string | undefined,
): MigratedJob {
  const unread: MigrationRemark[] = [];
  const onLost = (message: string, location: SourceLocation) =>
    unread.push({ kind: "no-meaning", at: formatLocation(location), message });
  const onUnnamed = (location: SourceLocation) => onLost("this <property> has no effect: it has no <name>", location);
  const migrated = migrateSettings(settingsOf(parseProperties(text, file, { readText, onUnnamed, onLost }), "job"));
  const kept = migrated.flatMap(({ key, setting }): WrittenProperty[] =>
    key === undefined ? [] : [{ name: key, value: setting.value }],
  );
  const remarks = [...migrated.map(({ remark }) => remark), ...unread];
  if (!kept.some(({ name }) => name === FAILURE_KEY)) {
    const message = `a failed worker fails the job; ${FAILURE_KEY} = false lets it succeed as in TonY`;
    remarks.push({ kind: "changes", at: file, message });
  }
  const hasCommand = kept.some(({ name }) => /^tony\.[^.]+\.command$/.test(name));
  return { text: writeProperties(kept), remarks, hasCommand };
}

/** Whether a file found in a folder is a job's: a Hadoop configuration with settings for TonY. */
export function isJobFile(text: string): boolean {
  return /<configuration[\s>]/.test(text) && /<name>\s*tony\./.test(text);
}

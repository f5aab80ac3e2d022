import { meaningless } from "../azkaban/job-properties.ts";
import type { MigrationRemark } from "../printed-json.ts";
import { migrateSettings } from "./settings.ts";

/** A property of a job or a flow, `at` its file and line. */
export interface AzkabanProperty {
  readonly key: string;
  readonly value: string;
  readonly at: string;
}

export interface MigratedProperty {
  readonly remark: MigrationRemark;
  /** The name under which it goes on; absent: it is left out. */
  readonly key?: string;
}

/** What becomes of each, in order: TonY's own as of settings, Azkaban's and other job types' stay. */
export function migrateProperties(properties: readonly AzkabanProperty[]): MigratedProperty[] {
  const tony = properties.filter(({ key }) => key.startsWith("tony.") && !meaningless.has(key));
  const settings = migrateSettings(tony.map((property) => ({ ...property, layer: "job", final: false }) as const));
  const migrated = new Map<AzkabanProperty, MigratedProperty>(
    tony.flatMap((property, index) => {
      const setting = settings[index];
      return setting === undefined ? [] : [[property, setting]];
    }),
  );
  return properties.map((property) => migrated.get(property) ?? migrateOther(property));
}

function migrateOther({ key, at }: AzkabanProperty): MigratedProperty {
  if (!meaningless.has(key)) return { remark: { kind: "stays", at, message: key }, key };
  const message = `${key} has no effect: there is no JVM`;
  return { remark: { kind: "no-meaning", at, message } };
}

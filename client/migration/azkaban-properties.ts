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
  /** The new name; absent: the property is left out. */
  readonly key?: string;
}

/** TonY's job type, and its earlier name. */
export const tonyJobType = /^(tony|tensorflow)job$/i;

/** Migrates each property, in order: TonY's own as settings; Azkaban's and those of other job types stay. */
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

/** What people set for a job of another type, and TonY's key for it. */
const ofOtherTypes: readonly (readonly [RegExp, string])[] = [
  [/^(mapreduce\.job\.|mapred\.job\.|tez\.)?queue([._]?name)?$/, "tony.yarn.queue"],
  [/^(job[._]|app[._]|application[._])?name$/, "tony.application.name"],
  [/^(job[._])?priority$/, "tony.application.priority"],
  [/^tags$/, "tony.application.tags"],
];

function migrateOther({ key, at }: AzkabanProperty): MigratedProperty {
  if (!meaningless.has(key)) {
    const [, meant] = ofOtherTypes.find(([names]) => names.test(key)) ?? [];
    const message = meant === undefined ? key : `${key}: neither TonY nor tony-ts reads it; the key is ${meant}`;
    return { remark: { kind: "stays", at, message }, key };
  }
  const message = `${key} has no effect: there is no JVM`;
  return { remark: { kind: "no-meaning", at, message } };
}

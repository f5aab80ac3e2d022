import type { Properties } from "properties-file/parser";
import { meaningless } from "../azkaban/job-properties.ts";
import type { MigrationRemark } from "../printed-json.ts";
import type { MigratedText } from "./job-file.ts";
import { type MigratedSetting, migrateSettings } from "./settings.ts";

type Property = ReturnType<Properties["getProperties"]>[number];

/** Whether a file of a flow is a job of TonY's type, or has settings for such jobs. */
export function isTonyFlow(properties: Properties): boolean {
  const type = properties.getEffectiveProperty("type")?.value;
  if (type !== undefined) return /^tonyjob$/i.test(type.trim());
  return properties.getProperties().some(({ key }) => key.startsWith("tony."));
}

/** A job of a flow, or properties that its jobs share, with all else as it was: comments, order, Azkaban's own properties. */
export function migrateFlow(properties: Properties, file: string): MigratedText {
  const settings = new Map<Property, MigratedSetting>();
  const tony = properties.getProperties().filter(({ key }) => key.startsWith("tony.") && !meaningless.has(key));
  const migrated = migrateSettings(
    tony.map(({ key, value, startingLineNumber }) => {
      return { key, value, layer: "job", at: `${file}:${startingLineNumber}`, final: false } as const;
    }),
  );
  for (const [index, property] of tony.entries()) {
    const found = migrated[index];
    if (found !== undefined) settings.set(property, found);
  }
  const lines: string[] = [];
  const remarks: MigrationRemark[] = [];
  for (const node of properties.nodes) {
    if (node.type !== "property") {
      lines.push(node.rawLine);
      continue;
    }
    const { remark, written } = migrateProperty(node, `${file}:${node.startingLineNumber}`, settings.get(node));
    remarks.push(remark);
    lines.push(...written);
  }
  return { text: lines.join(properties.eolCharacter), remarks };
}

function migrateProperty(
  { key, rawLines }: Property,
  at: string,
  setting: MigratedSetting | undefined,
): { readonly remark: MigrationRemark; readonly written: readonly string[] } {
  if (setting !== undefined) {
    const { key: now, remark } = setting;
    return { remark, written: now === undefined ? [] : rawLines.map((line) => line.replace(key, now)) };
  }
  if (key === "type") {
    return { remark: { kind: "changes", at, message: "type becomes tony-ts" }, written: ["type=tony-ts"] };
  }
  if (meaningless.has(key)) {
    const message = `${key} has no effect: no JVM runs in the containers`;
    return { remark: { kind: "no-meaning", at, message }, written: [] };
  }
  return { remark: { kind: "stays", at, message: key }, written: rawLines };
}

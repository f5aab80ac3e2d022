import type { Properties } from "properties-file/parser";
import type { MigrationRemark } from "../printed-json.ts";
import { migrateProperties, tonyJobType } from "./azkaban-properties.ts";
import type { MigratedText } from "./job-file.ts";

type Property = ReturnType<Properties["getProperties"]>[number];

/** Whether a file of a flow is a job of TonY's type, or has settings for such jobs. */
export function isTonyFlow(properties: Properties): boolean {
  const type = properties.getEffectiveProperty("type")?.value;
  if (type !== undefined) return tonyJobType.test(type.trim());
  return properties.getProperties().some(({ key }) => key.startsWith("tony."));
}

/** Migrates a job of a flow, or properties that its jobs share; all else stays: comments, order, Azkaban's own properties. */
export function migrateFlow(properties: Properties, file: string): MigratedText {
  const found = properties.getProperties();
  const migrated = migrateProperties(
    found.map(({ key, value, startingLineNumber }) => ({ key, value, at: `${file}:${startingLineNumber}` })),
  );
  const byProperty = new Map(found.map((property, index) => [property, migrated[index]]));
  const lines: string[] = [];
  const remarks: MigrationRemark[] = [];
  for (const node of properties.nodes) {
    if (node.type !== "property") {
      lines.push(node.rawLine);
      continue;
    }
    const result = byProperty.get(node);
    if (result === undefined) {
      lines.push(...node.rawLines);
    } else if (node.key === "type") {
      lines.push("type=tony-ts");
      remarks.push({ kind: "changes", at: result.remark.at, message: "type becomes tony-ts" });
    } else {
      lines.push(...renamed(node, result.key));
      remarks.push(result.remark);
    }
  }
  return { text: lines.join(properties.eolCharacter), remarks };
}

/** Its lines with the new name; no lines without one. */
function renamed({ key, rawLines }: Property, now: string | undefined): readonly string[] {
  return now === undefined ? [] : rawLines.map((line) => line.replace(key, now));
}

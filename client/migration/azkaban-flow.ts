import { isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument, type YAMLMap } from "yaml";
import { ConfigurationError } from "../../src/hadoop/conf/errors.ts";
import type { MigrationRemark } from "../printed-json.ts";
import { migrateProperties, tonyJobType } from "./azkaban-properties.ts";
import type { MigratedText } from "./job-file.ts";

type Mapping = YAMLMap.Parsed<ParsedNode, ParsedNode | null>;

/** A range of a text, and its replacement. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * Migrates a flow of Azkaban's Flow 2.0 (azkaban.project.NodeBean): the nodes of TonY's type, and what flows set for them. All else stays:
 * comments, order, other nodes. Undefined where no node is of that type.
 * @throws ConfigurationError naming file and line
 */
export function migrateFlowDocument(text: string, file: string): MigratedText | undefined {
  if (!/(tony|tensorflow)job/i.test(text)) return undefined;
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number) => lines.linePos(offset).line;
  const [error] = document.errors;
  if (error !== undefined) {
    const location = { file, line: lineAt(error.pos[0]) };
    throw new ConfigurationError(error.message, { code: "CONFIGURATION_MALFORMED", location });
  }
  const edits: Edit[] = [];
  const remarks: MigrationRemark[] = [];
  if (!isMap<ParsedNode, ParsedNode | null>(document.contents)) return undefined;
  migrateNode(document.contents);
  if (!edits.some(({ text: now }) => now.includes("tony-ts"))) return undefined;
  return { text: edited(text, edits), remarks };

  /** A job or a flow: the whole document, or one inside it. */
  function migrateNode(node: Mapping): void {
    const nodes = field(node, "nodes");
    const type = field(node, "type");
    const isJob = isScalar(type) && tonyJobType.test(String(type.value).trim());
    if (isJob) {
      const [from, to] = type.range;
      edits.push({ from, to, text: text.slice(from, to).replace(/(tony|tensorflow)job/i, "tony-ts") });
      remarks.push({ kind: "changes", at: `${file}:${lineAt(from)}`, message: "type becomes tony-ts" });
    }
    const config = field(node, "config");
    if ((isJob || isSeq(nodes)) && isMap<ParsedNode, ParsedNode | null>(config)) migrateConfig(config);
    if (!isSeq<ParsedNode>(nodes)) return;
    for (const one of nodes.items) if (isMap<ParsedNode, ParsedNode | null>(one)) migrateNode(one);
  }

  function migrateConfig(config: Mapping): void {
    const migrated = migrateProperties(
      config.items.map(({ key, value }) => {
        return { key: textOf(key), value: textOf(value), at: `${file}:${lineAt(key.range[0])}` };
      }),
    );
    remarks.push(...migrated.map(({ remark }) => remark));
    if (migrated.length > 0 && migrated.every(({ key }) => key === undefined)) {
      // It has to stay a mapping even without any property.
      edits.push({ from: config.range[0], to: endOfText(text, config.range[1]), text: "{}" });
      return;
    }
    for (const [index, { key: pair }] of config.items.entries()) {
      const name = textOf(pair);
      const now = migrated[index]?.key;
      const [from, to] = pair.range;
      const isEndGone = migrated.slice(index).every(({ key }) => key === undefined);
      if (now === undefined) edits.push(withoutPair(text, config, { index, isEndGone }));
      else if (now !== name) edits.push({ from, to, text: text.slice(from, to).replace(name, now) });
    }
  }
}

function field(node: Mapping, name: string): ParsedNode | null | undefined {
  return node.items.find(({ key }) => textOf(key) === name)?.value;
}

/** The text of a scalar, numbers and booleans as they are written. */
function textOf(node: ParsedNode | null): string {
  if (!isScalar(node) || node.value === null) return "";
  return typeof node.value === "string" ? node.value : (node.source ?? String(node.value));
}

/**
 * Removes a property with its lines; within braces with the comma that follows it, or with the one before it when everything after it is
 * removed too. At least one property stays.
 */
function withoutPair(
  text: string,
  { flow = false, items }: Mapping,
  { index, isEndGone }: { readonly index: number; readonly isEndGone: boolean },
): Edit {
  const startOf = (at: number) => items[at]?.key.range[0] ?? 0;
  const endOf = (at: number) => items[at]?.value?.range[1] ?? items[at]?.key.range[1] ?? 0;
  if (flow && isEndGone) return { from: endOf(index - 1), to: endOf(index), text: "" };
  if (flow) return { from: startOf(index), to: startOf(index + 1), text: "" };
  const end = endOf(index);
  const lineEnd = text[end - 1] === "\n" ? end : text.indexOf("\n", end) + 1;
  return { from: text.lastIndexOf("\n", startOf(index)) + 1, to: lineEnd === 0 ? text.length : lineEnd, text: "" };
}

/** The end of the text without the line end that a block's range includes. */
function endOfText(text: string, end: number): number {
  return text.slice(0, end).trimEnd().length;
}

/** The text with its edits applied; no two overlap. */
function edited(text: string, edits: readonly Edit[]): string {
  let done = 0;
  let result = "";
  for (const edit of [...edits].sort((one, other) => one.from - other.from)) {
    result += text.slice(done, edit.from) + edit.text;
    done = edit.to;
  }
  return result + text.slice(done);
}

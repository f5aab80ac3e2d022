import { isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument } from "yaml";
import { ConfigurationError } from "../../../src/hadoop/conf/errors.ts";

/** A value of a specification, with where it stands. */
export interface SpecValue {
  /** `app.yaml:12` */
  readonly at: string;
  /** Of a scalar, as text; undefined for a mapping, a list, and nothing at all. */
  readonly text: string | undefined;
  readonly items: readonly SpecValue[];
  readonly fields: readonly SpecField[];
}

export interface SpecField extends SpecValue {
  readonly name: string;
}

/**
 * A document of YAML 1.2, of which JSON is a part.
 * @throws ConfigurationError naming file and line
 */
export function readDocument(text: string, file: string): SpecValue {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number) => `${file}:${lines.linePos(offset).line}`;
  const [error] = document.errors;
  if (error !== undefined) {
    throw new ConfigurationError(error.message, {
      code: "CONFIGURATION_MALFORMED",
      location: { file, line: lines.linePos(error.pos[0]).line },
    });
  }
  return readValue(document.contents, at, `${file}:1`);
}

function readValue(node: ParsedNode | null, at: (offset: number) => string, before: string): SpecValue {
  const place = node === null ? before : at(node.range[0]);
  if (isMap<ParsedNode, ParsedNode | null>(node)) {
    const fields = node.items.map(({ key, value }): SpecField => {
      const keyPlace = at(key.range[0]);
      return { ...readValue(value, at, keyPlace), at: keyPlace, name: textOf(key) ?? "" };
    });
    return { at: place, text: undefined, items: [], fields };
  }
  const items = isSeq<ParsedNode>(node) ? node.items.map((item) => readValue(item, at, place)) : [];
  return { at: place, text: textOf(node), items, fields: [] };
}

/** Numbers and booleans as they are written. */
function textOf(node: ParsedNode | null): string | undefined {
  if (!isScalar(node) || node.value === null) return undefined;
  return typeof node.value === "string" ? node.value : (node.source ?? String(node.value));
}

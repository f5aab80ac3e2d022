import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseDocument,
  type YAMLMap,
} from "yaml";
import { ConfigurationError } from "../../../src/hadoop/conf/errors.ts";

/** A value of a specification, with its place in the file. */
export interface SpecValue {
  /** `app.yaml:12` */
  readonly at: string;
  /** The text of a scalar; undefined for a mapping, a list, or an empty value. */
  readonly text: string | undefined;
  readonly items: readonly SpecValue[];
  readonly fields: readonly SpecField[];
}

export interface SpecField extends SpecValue {
  readonly name: string;
}

/**
 * Reads a YAML 1.2 document; JSON is a subset.
 * @throws ConfigurationError naming file and line
 */
export function readDocument(text: string, file: string): SpecValue {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number) => `${file}:${lines.linePos(offset).line}`;
  const [error] = document.errors;
  if (error !== undefined) {
    const tab = /^ *\t/m.exec(text)?.index;
    const message = tab === undefined ? (inOwnWords.get(error.code) ?? error.message) : TAB;
    throw new ConfigurationError(message, {
      code: "CONFIGURATION_MALFORMED",
      location: { file, line: lines.linePos(tab ?? error.pos[0]).line },
    });
  }
  return new Reader(document, at).read(document.contents, `${file}:1`);
}

const TAB = "a line begins with a tab: YAML takes blanks only";
const inOwnWords: ReadonlyMap<string, string> = new Map([
  ["MULTIPLE_DOCS", "a second document begins (---): put each in a file of its own"],
]);

/** Nested aliases multiply: no document that a person writes has this many values. */
const MOST_VALUES = 500;

class Reader {
  readonly #document: Document.Parsed;
  readonly #at: (offset: number) => string;
  #values = 0;

  constructor(document: Document.Parsed, at: (offset: number) => string) {
    this.#document = document;
    this.#at = at;
  }

  /** @param before the place to report where the value is empty */
  read(written: ParsedNode | null, before: string): SpecValue {
    const node = this.#meant(written);
    const place = written === null ? before : this.#at(written.range[0]);
    if (isMap<ParsedNode, ParsedNode | null>(node))
      return { at: place, text: undefined, items: [], fields: this.#fields(node) };
    const items = isSeq<ParsedNode>(node) ? node.items.map((item) => this.read(item, place)) : [];
    return { at: place, text: textOf(node), items, fields: [] };
  }

  /** The fields of a mapping; merged fields (`<<`) come after its own, which take precedence (yaml.org/type/merge). */
  #fields(node: Mapping): SpecField[] {
    const own = node.items.flatMap((pair) => (isMerge(pair) ? [] : [this.#field(pair)]));
    const merged = node.items.filter(isMerge).flatMap(({ value }) => this.#merged(value));
    return [...own, ...merged].filter(({ name }, index, all) => all.findIndex((one) => one.name === name) === index);
  }

  #field({ key, value }: Mapping["items"][number]): SpecField {
    const at = this.#at(key.range[0]);
    return { ...this.read(value, at), at, name: textOf(key) ?? "" };
  }

  #merged(value: ParsedNode | null): SpecField[] {
    const node = this.#meant(value);
    if (isMap<ParsedNode, ParsedNode | null>(node)) return this.#fields(node);
    return isSeq<ParsedNode>(node) ? node.items.flatMap((item) => this.#merged(item)) : [];
  }

  /** The node that an alias refers to. An alias inside its own target is caught by the limit on the number of values. */
  #meant(node: ParsedNode | null): ParsedNode | null {
    this.#values += 1;
    if (this.#values > MOST_VALUES) throw tooLarge();
    if (!isAlias(node)) return node;
    const meant = node.resolve(this.#document);
    // The anchors of a parsed document are parsed nodes themselves.
    return (meant ?? null) as ParsedNode | null;
  }
}

type Mapping = YAMLMap.Parsed<ParsedNode, ParsedNode | null>;

function isMerge({ key }: Mapping["items"][number]): boolean {
  return isScalar(key) && key.source === "<<";
}

function tooLarge(): ConfigurationError {
  return new ConfigurationError("its aliases stand for too many values", { code: "CONFIGURATION_MALFORMED" });
}

/** Numbers and booleans as they are written. */
function textOf(node: ParsedNode | null): string | undefined {
  if (!isScalar(node) || node.value === null) return undefined;
  return typeof node.value === "string" ? node.value : (node.source ?? String(node.value));
}

import { type PlacementConstraint, type PlacementScope, type TagTarget, UNBOUNDED } from "./placement-constraint.ts";

/** A constraint, and the tag of the containers to which it applies; without a tag it applies to all. */
export interface PlacementRule {
  readonly sourceTag?: string;
  readonly constraint: PlacementConstraint;
}

/** The supported forms, for messages. */
const forms =
  'a placement constraint such as "notin,node,worker", "in,rack,ps", "cardinality,node,worker,0,1", "java=1.8" or "and(…:…)"';

/**
 * Parses one expression in the language of org.apache.hadoop.yarn.util.constraint.PlacementConstraintParser (Hadoop 3.3). Case is ignored,
 * as are spaces around words.
 * @throws RangeError whose message completes "<key> must be …"
 */
export function parsePlacementConstraint(text: string): PlacementConstraint {
  const expression = text.trim();
  const [, operator, inner] = /^(and|or)\s*\((.*)\)$/is.exec(expression) ?? [];
  if (operator !== undefined && inner !== undefined) {
    const of = splitOutside(inner, ":").map(parsePlacementConstraint);
    return of.length === 0 ? fail(text) : { kind: operator.toLowerCase() === "and" ? "and" : "or", of };
  }
  const [first = "", ...rest] = expression.split(",").map((word) => word.trim());
  switch (first.toLowerCase()) {
    case "in":
      return tags(text, rest, 1, UNBOUNDED);
    case "notin":
      return tags(text, rest, 0, 0);
    case "cardinality":
      return tags(text, rest.slice(0, -2), limit(text, rest.at(-2)), limit(text, rest.at(-1)));
    default:
      return attribute(text, first, rest);
  }
}

/**
 * Several expressions separated by `:`, each optionally for the containers of one tag: `zk(3),notin,node,zk:in,node,ps`. The number of
 * containers (`3`) is parsed and ignored: a job specifies it elsewhere. `zk=3,…` is the older spelling of `zk(3),…`.
 * @throws RangeError whose message completes "<key> must be …"
 */
export function parsePlacementRules(text: string): readonly PlacementRule[] {
  const rules = splitOutside(text.trim(), ":").map((part): PlacementRule => {
    const [, sourceTag, constraint] = /^\s*([\w.-]+)\s*(?:\(\d+\)|=\d+)\s*,(.*)$/s.exec(part) ?? [];
    if (sourceTag === undefined || constraint === undefined) return { constraint: parsePlacementConstraint(part) };
    return { sourceTag, constraint: parsePlacementConstraint(constraint) };
  });
  return rules.length === 0 ? fail(text) : rules;
}

function tags(text: string, [scope = "", ...named]: readonly string[], min: number, max: number): PlacementConstraint {
  if (named.length === 0 || min > max) return fail(text);
  return { kind: "tags", scope: scopeOf(text, scope), min, max, tags: named.map((tag) => target(text, tag)) };
}

function scopeOf(text: string, word: string): PlacementScope {
  const scope = word.toLowerCase();
  return scope === "node" || scope === "rack" ? scope : fail(text);
}

/** `worker`, `all/worker`, `app-tag/nightly/worker` (AllocationTagNamespaceType). */
function target(text: string, words: string): TagTarget {
  const parts = words.split("/");
  const tag = parts.pop() ?? "";
  const namespace = parts.join("/");
  if (!isWord(tag) || !/^(?:|self|not-self|all|app-id\/[\w-]+|app-tag\/[^/]+)$/.test(namespace)) return fail(text);
  return namespace === "" || namespace === "self" ? { tag } : { namespace, tag };
}

/** `java=1.8`, `rm.yarn.io/os!=centos,debian`. */
function attribute(text: string, first: string, others: readonly string[]): PlacementConstraint {
  const [, name, operator, value] = /^([\w.-]+(?:\/[\w.-]+)?)\s*(!?=)\s*(.+)$/.exec(first) ?? [];
  if (name === undefined || value === undefined || ![value, ...others].every(isWord)) return fail(text);
  return { kind: "attribute", name, is: operator === "=", values: [value, ...others] };
}

function limit(text: string, word = ""): number {
  return /^\d{1,9}$/.test(word) ? Number(word) : fail(text);
}

function isWord(word: string): boolean {
  return /^[\w.-]+$/.test(word);
}

/** Splits at delimiters outside brackets; empty parts are left out. */
function splitOutside(text: string, delimiter: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const character of text) {
    if (character === "(") depth++;
    if (character === ")") depth--;
    if (character === delimiter && depth === 0) parts.push("");
    else parts.push(`${parts.pop() ?? ""}${character}`);
  }
  return parts.filter((part) => part.trim() !== "");
}

function fail(text: string): never {
  throw new RangeError(`${forms}, not "${text.trim()}"`);
}

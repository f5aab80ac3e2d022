import { parseDurationMs } from "../../hadoop/conf/values.ts";
import { amount as anyNumber, arrayOf, bool, count, literal, object, recordOf, type Shape, string } from "../shape.ts";

/** What a key's text may say and what it becomes. `parse` throws a RangeError whose message completes "<key> must be …". */
export interface KeyType<T> {
  /** For `tony-ts keys` and the documentation: `memory`, `gang | fcfs`. */
  readonly label: string;
  readonly parse: (text: string) => T;
  /** What it became, where it comes back as JSON. */
  readonly shape: Shape<T>;
  /** Some text means none: the value is then undefined, and absent from JSON. */
  readonly mayBeNone?: true;
}

function keyType<T>(label: string, mustBe: string, shape: Shape<T>, read: (text: string) => T | undefined): KeyType<T> {
  return {
    label,
    shape,
    parse: (text) => {
      const value = read(text.trim());
      if (value === undefined) throw new RangeError(`${mustBe}, not "${text.trim()}"`);
      return value;
    },
  };
}

export const text: KeyType<string> = keyType("text", "text", string, (value) => value);

/** A path as it stands; whether it is local or Hadoop's is the reader's business. */
export const path: KeyType<string> = keyType("path", "a path or URL", string, (value) => value || undefined);

/** A folder of the cluster's, which has no other folder to be relative to. */
export const clusterFolder: KeyType<string> = keyType(
  "absolute path",
  "an absolute path such as /shared/folder, or a URL, without empty, . and .. parts",
  string,
  (value) => {
    const [, rest] = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/]*)?(\/.*)$/i.exec(value) ?? [];
    return rest === undefined || /\/(?:\.{0,2})\//.test(`${rest.replace(/\/$/, "")}/`) ? undefined : value;
  },
);

/** A path, but for one that stands for none: TonY's configuration has such a placeholder. */
export function pathUnless(placeholder: string): KeyType<string | undefined> {
  return orNone(path, (value) => value === placeholder);
}

/** Where something is sent to. It may hold a secret: the error does not repeat it. */
export const webAddress: KeyType<string> = {
  label: "http or https URL",
  shape: string,
  parse: (text) => {
    const address = text.trim();
    if (/^https?:\/\//i.test(address) && URL.canParse(address)) return address;
    throw new RangeError("a URL that begins with http:// or https://");
  },
};

/** Where people find something: TonY's users name a host alone, too. */
export const webPlace: KeyType<string> = {
  ...webAddress,
  label: "http or https URL, or a host",
  parse: (text) => webAddress.parse(/^[\w.-]+(?::\d+)?(?:\/|$)/.test(text.trim()) ? `http://${text.trim()}` : text),
};

/** As java.time.ZoneId takes it, where it names a region or UTC. */
export const timeZone: KeyType<string> = keyType(
  "time zone",
  "a time zone such as UTC or Europe/Berlin",
  string,
  (value) => {
    try {
      return new Intl.DateTimeFormat("en", { timeZone: value }) && value;
    } catch {
      return undefined;
    }
  },
);

/** YARN's node label expressions are one label or nothing (CommonNodeLabelsManager). */
export const label: KeyType<string> = keyType(
  "label",
  'a node label (letters, digits, "-" and "_")',
  string,
  (value) => /^[0-9A-Za-z][0-9A-Za-z_-]*$/.exec(value)?.[0],
);

/** YARN's access control lists: users, a space, groups (org.apache.hadoop.security.authorize.AccessControlList). */
export const accessControlList: KeyType<string> = {
  label: "users groups",
  shape: string,
  parse: (value) => {
    if (/^\s*\S*(\s+\S+)?\s*$/.test(value)) return value.trimEnd();
    throw new RangeError(`users, a space and groups, each with commas, such as "ada,bob ml", or *, not "${value}"`);
  },
};

export const boolean: KeyType<boolean> = keyType("true | false", "true or false", bool, (value) =>
  /^true$/i.test(value) ? true : /^false$/i.test(value) ? false : undefined,
);

/** Java's largest int, by which TonY and YARN count. */
const LARGEST = 2_147_483_647;

/** A whole number, both bounds included. */
export function integer({ min = 0, max = LARGEST } = {}): KeyType<number> {
  const mustBe =
    max === LARGEST
      ? `a whole number of at least ${min} (at most ${LARGEST})`
      : `a whole number between ${min} and ${max}`;
  return keyType("number", mustBe, count, (value) => wholeNumber(value, min, max));
}

/** TonY's limits: a negative number means none, and is undefined here. */
export const limit: KeyType<number | undefined> = orNone(
  keyType("number, -1: no limit", `a whole number up to ${LARGEST}, or -1 for no limit`, count, (value) =>
    wholeNumber(value, -LARGEST, LARGEST),
  ),
  (value) => value < 0,
);

function orNone<T>(type: KeyType<T>, isNone: (value: T) => boolean): KeyType<T | undefined> {
  return {
    ...type,
    mayBeNone: true,
    parse: (text) => {
      const value = type.parse(text);
      return isNone(value) ? undefined : value;
    },
  };
}

function wholeNumber(value: string, min: number, max: number): number | undefined {
  if (!/^[+-]?\d{1,15}$/.test(value)) return undefined;
  const number = Number(value);
  return number >= min && number <= max ? number : undefined;
}

/** What is asked for one hour: plain decimals. */
export const price: KeyType<number> = keyType("price", "a price such as 0.04 or 2", anyNumber, (value) =>
  /^\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : undefined,
);

/** It is shown on terminals and pages: letters and signs of currencies alone. */
export const currency: KeyType<string> = keyType(
  "currency",
  "a currency such as EUR or €",
  string,
  (value) => /^[\p{L}\p{Sc}]{1,8}$/u.exec(value)?.[0],
);

const MIB_PER_UNIT: Readonly<Record<string, number>> = { "": 1, m: 1, g: 1024, t: 1024 * 1024 };

/** TonY's memory, in MiB: `2g`, `512m`, or a bare number of MiB. `2gb` and `2GiB` mean the same as `2g`. */
export const memory: KeyType<number> = keyType(
  "memory",
  "a whole amount such as 2g or 512m (a bare number is MiB; for one and a half GiB write 1536m)",
  count,
  (value) => {
    const [, amount, unit] = /^(\d{1,9})\s*([mgt]?)(?:i?b)?$/i.exec(value) ?? [];
    if (amount === undefined || unit === undefined) return undefined;
    const mebibytes = Number(amount) * (MIB_PER_UNIT[unit.toLowerCase()] ?? 1);
    return mebibytes > 0 ? mebibytes : undefined;
  },
);

/** Milliseconds. A bare number counts `bareUnit`, which for TonY's keys is what TonY takes it for; units are always allowed. */
export function duration(bareUnit: "ms" | "s" = "ms", { minMs = 0 } = {}): KeyType<number> {
  const least = minMs === 0 ? "" : ` of at least ${minMs / 1000}s`;
  return keyType(
    `duration (${bareUnit})`,
    `a duration${least} such as 90s, 5m or 2h (a bare number is ${bareUnit})`,
    count,
    (value) => {
      const ms = parseDurationMs(value, bareUnit);
      return ms !== undefined && ms >= minMs ? ms : undefined;
    },
  );
}

/** Milliseconds of a wait that may be off: 0 and -1 mean never, as in TonY, and are undefined here. */
export function optionalDuration(bareUnit: "ms" | "s" = "ms"): KeyType<number | undefined> {
  const anyDuration = keyType(
    "duration",
    `a duration such as 90s, 5m or 2h (a bare number is ${bareUnit}; 0 or -1: none)`,
    count,
    (value) => parseDurationMs(value, bareUnit),
  );
  return { ...orNone(anyDuration, (ms) => ms <= 0), label: `duration (${bareUnit}), 0: none` };
}

export interface WordType<T extends string> extends KeyType<T> {
  readonly words: readonly T[];
}

/** One of a few words, in any case, as TonY reads them. */
export function oneOf<const T extends string>(...words: readonly T[]): WordType<T> {
  const type = keyType(words.join(" | "), `one of ${words.join(", ")}`, literal(...words), (value) =>
    words.find((word) => word.toLowerCase() === value.toLowerCase()),
  );
  return { ...type, words };
}

/** Comma-separated words; empty ones are left out. A comma inside a word is written `\,`. */
export const list: KeyType<readonly string[]> = keyType("list", "a comma-separated list", arrayOf(string), splitList);

/** YARN's, with its limits (ApplicationSubmissionContextPBImpl#checkTags). */
export const resourceTypes: KeyType<readonly string[]> = keyType(
  "list",
  "a comma-separated list of resource types, such as nvidia.com/gpu",
  arrayOf(string),
  (value) => {
    const types = splitList(value);
    // org.apache.hadoop.yarn.util.resource.ResourceUtils#validateNameOfResourceNameAndThrowException
    const areNames = types.every((type) => /^([A-Za-z\d]([A-Za-z\d.-]*[A-Za-z\d])?\/)?[A-Za-z][\w.-]*$/.test(type));
    return types.length > 0 && areNames ? types : undefined;
  },
);

export const tags: KeyType<readonly string[]> = keyType(
  "list of tags",
  "at most 10 tags, each of at most 100 letters, digits and punctuation of ASCII",
  arrayOf(string),
  (value) => {
    const found = splitList(value);
    return found.length <= 10 && found.every((tag) => /^[\x20-\x7e]{1,100}$/.test(tag)) ? found : undefined;
  },
);

/** Stands after an item that ends in blanks, which are trimmed, or in a backslash, which would take the next comma for its own. */
const ITEM_END = "\\\n";

/** Splits at commas that no backslash precedes. */
export function splitList(value: string): string[] {
  return value
    .split(/(?<!\\),/)
    .map((item) => (item.endsWith(ITEM_END) ? item.trimStart().slice(0, -ITEM_END.length) : item.trim()))
    .map((item) => item.replaceAll("\\,", ","))
    .filter((item) => item !== "");
}

/** One item as `splitList` gives it back. */
export function escapeListItem(item: string): string {
  const escaped = item.replaceAll(",", "\\,");
  // The comma is there because the text of a key is trimmed; an empty item is none.
  return /[\\\s]$/.test(escaped) ? `${escaped}${ITEM_END},` : escaped;
}

/** The items of both. */
export function joinLists(first: string, second: string): string {
  return `${first}${first.endsWith("\\") ? ITEM_END : ""},${second}`;
}

/** `NAME=value,NAME=value`; a name without `=` has an empty value, as in TonY. */
export const environment: KeyType<Readonly<Record<string, string>>> = keyType(
  "NAME=value list",
  "NAME=value pairs (names: letters, digits and _; a comma inside a value is written \\,)",
  recordOf(string),
  (value) => {
    const pairs = splitList(value).map((item): [string, string] => {
      const equals = item.indexOf("=");
      return equals < 0 ? [item, ""] : [item.slice(0, equals).trim(), item.slice(equals + 1)];
    });
    return pairs.every(([name]) => /^[A-Za-z_]\w*$/.test(name)) ? Object.fromEntries(pairs) : undefined;
  },
);

/**
 * Where a variable's secret value is, by the variable's name: `NAME=file:PATH` or `NAME=env:VARIABLE`. What is neither may be a secret: the
 * error does not repeat it.
 */
export const secretSources: KeyType<Readonly<Record<string, string>>> = {
  ...environment,
  label: "NAME=source list",
  parse: (text) => {
    const isSource = (item: string) => /^[A-Za-z_]\w*=(?:file:.|env:[A-Za-z_])/.test(item);
    if (splitList(text).every(isSource)) return environment.parse(text);
    throw new RangeError("NAME=file:PATH or NAME=env:VARIABLE pairs, never the value itself");
  },
};

/** Names for ports: each becomes a part of a variable's name, where `-` is written `_`, and of a template. */
export const portNames: KeyType<readonly string[]> = keyType(
  "list of names",
  "names such as rpc,metrics, each once (lower-case letters, digits and -, a letter first)",
  arrayOf(string),
  (value) => {
    const names = splitList(value);
    const isDistinct = new Set(names).size === names.length;
    return isDistinct && names.every((name) => /^[a-z][a-z0-9-]*$/.test(name)) ? names : undefined;
  },
);

/** `20000-20100`, both included; one port alone is a range of one. */
export const portRange: KeyType<{ readonly from: number; readonly to: number }> = keyType(
  "port range",
  "a range of ports such as 20000-20100",
  object({ required: { from: count, to: count }, optional: {} }),
  (value) => {
    const [, first, last] = /^(\d{1,5})(?:\s*-\s*(\d{1,5}))?$/.exec(value) ?? [];
    if (first === undefined) return undefined;
    const from = Number(first);
    const to = Number(last ?? first);
    return from >= 1 && from <= to && to <= 65_535 ? { from, to } : undefined;
  },
);

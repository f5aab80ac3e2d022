import { parseDurationMs } from "../../hadoop/conf/values.ts";
import { amount as anyNumber, arrayOf, bool, count, literal, object, recordOf, type Shape, string } from "../shape.ts";

/** The valid texts of a key and the values that they are parsed to. `parse` throws a RangeError whose message completes "<key> must be …". */
export interface KeyType<T> {
  /** For `tony-ts keys` and the documentation: `memory`, `gang | fcfs`. */
  readonly label: string;
  readonly parse: (text: string) => T;
  /** Checks the value when it is read back from JSON. */
  readonly shape: Shape<T>;
  /** Some texts mean none: the value is then undefined, and absent from JSON. */
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

/** A path, unchanged; its reader decides whether it is local or Hadoop's. */
export const path: KeyType<string> = keyType("path", "a path or URL", string, (value) => value || undefined);

/** A folder on the cluster; a relative path has no base there. */
export const clusterFolder: KeyType<string> = keyType(
  "absolute path",
  "an absolute path such as /shared/folder, or a URL, without empty, . and .. parts",
  string,
  (value) => {
    const [, rest] = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/]*)?(\/.*)$/i.exec(value) ?? [];
    return rest === undefined || /\/(?:\.{0,2})\//.test(`${rest.replace(/\/$/, "")}/`) ? undefined : value;
  },
);

/** A path, except for one that is a placeholder for none: TonY's configuration contains such a value. */
export function pathUnless(placeholder: string): KeyType<string | undefined> {
  return orNone(path, (value) => value === placeholder);
}

/** An address that something is sent to. It may contain a secret: the error does not repeat it. */
export const webAddress: KeyType<string> = {
  label: "http or https URL",
  shape: string,
  parse: (text) => {
    const address = text.trim();
    if (/^https?:\/\//i.test(address) && URL.canParse(address)) return address;
    throw new RangeError("a URL that begins with http:// or https://");
  },
};

/** An address for people: TonY's users may give only a host. */
export const webPlace: KeyType<string> = {
  ...webAddress,
  label: "http or https URL, or a host",
  parse: (text) => webAddress.parse(/^[\w.-]+(?::\d+)?(?:\/|$)/.test(text.trim()) ? `http://${text.trim()}` : text),
};

/** In java.time.ZoneId's form, for regions and UTC. */
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

/** Java's largest int, the limit of TonY's and YARN's counters. */
const LARGEST = 2_147_483_647;

/** An integer, both bounds included. */
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

/** The price of one hour: a plain decimal number. */
export const price: KeyType<number> = keyType("price", "a price such as 0.04 or 2", anyNumber, (value) =>
  /^\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : undefined,
);

/** It is shown on terminals and pages, so only letters and currency signs are allowed. */
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

/** Milliseconds. A bare number is in `bareUnit`, for TonY's keys the unit that TonY assumes; units are always allowed. */
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

/** Milliseconds of a wait that can be switched off: 0 and -1 mean never, as in TonY, and become undefined here. */
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

/** One of a few words, in upper or lower case, as TonY reads them. */
export function oneOf<const T extends string>(...words: readonly T[]): WordType<T> {
  const type = keyType(words.join(" | "), `one of ${words.join(", ")}`, literal(...words), (value) =>
    words.find((word) => word.toLowerCase() === value.toLowerCase()),
  );
  return { ...type, words };
}

/** Comma-separated words; empty ones are left out. A comma inside a word is written `\,`. */
export const list: KeyType<readonly string[]> = keyType("list", "a comma-separated list", arrayOf(string), splitList);

/** YARN's resource types, with its limits (ApplicationSubmissionContextPBImpl#checkTags). */
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

/** Follows an item that ends in blanks, which would be trimmed, or in a backslash, which would escape the next comma. */
const ITEM_END = "\\\n";

/** Splits at commas that no backslash precedes. */
export function splitList(value: string): string[] {
  return value
    .split(/(?<!\\),/)
    .map((item) => (item.endsWith(ITEM_END) ? item.trimStart().slice(0, -ITEM_END.length) : item.trim()))
    .map((item) => item.replaceAll("\\,", ","))
    .filter((item) => item !== "");
}

/** Escapes one item so that `splitList` returns it. */
export function escapeListItem(item: string): string {
  const escaped = item.replaceAll(",", "\\,");
  // The comma protects the end, because the text of a key is trimmed; an empty item counts as none.
  return /[\\\s]$/.test(escaped) ? `${escaped}${ITEM_END},` : escaped;
}

/** A list with the items of both. */
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
 * Where a variable's secret value is, by the variable's name: `NAME=file:PATH` or `NAME=env:VARIABLE`. Any other text may be a secret: the
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

/** Names for ports: each becomes part of a variable's name, with `_` for `-`, and of a template. */
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

/** `20000-20100`, both included; a single port is a range of one. */
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

/**
 * The text forms of Hadoop's typed settings. Each function returns undefined for text that is not of its type; the caller knows the key and
 * its location, and creates the error.
 */

/** Decimal or `0x` hexadecimal, as org.apache.hadoop.conf.Configuration.getLong; refused beyond 2^53. */
export function parseInteger(text: string): number | undefined {
  const match = /^([+-]?)(?:0[xX]([0-9a-fA-F]+)|(\d+))$/.exec(text.trim());
  if (match === null) return undefined;
  const [, sign, hexadecimal, decimal] = match;
  const magnitude = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16);
  const value = sign === "-" && magnitude !== 0 ? -magnitude : magnitude;
  return Number.isSafeInteger(value) ? value : undefined;
}

/** Longest suffix first, so that `ms` is not read as seconds. */
const durationUnits = [
  ["ns", 1e-6],
  ["us", 1e-3],
  ["ms", 1],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
] as const;
export type DurationUnit = (typeof durationUnits)[number][0];

/**
 * `30s`, `5m`, `1d` as Configuration.getTimeDuration.
 * @param unit the unit of a bare number
 * @returns milliseconds, rounded down
 */
export function parseDurationMs(text: string, unit: DurationUnit): number | undefined {
  const trimmed = text.trim().toLowerCase();
  const suffix = durationUnits.find(([name]) => trimmed.endsWith(name));
  const count = parseInteger(suffix === undefined ? trimmed : trimmed.slice(0, -suffix[0].length));
  const [, milliseconds] = suffix ?? durationUnits.find(([name]) => name === unit) ?? durationUnits[2];
  return count === undefined ? undefined : Math.floor(count * milliseconds);
}

const binaryPrefixes = ["", "k", "m", "g", "t", "p", "e"];

/**
 * A size in bytes: `134217728`, `128m`, `128mb`, `1.5gb`, `2 terabytes`. Accepts both of Hadoop's forms
 * (StringUtils.TraditionalBinaryPrefix and StorageSize), with units in powers of 1024, in upper or lower case.
 */
export function parseSizeBytes(text: string): number | undefined {
  const match =
    /^(-?\d+(?:\.\d+)?)\s*([kmgtpe]?)(?:b|ilobytes|egabytes|igabytes|erabytes|etabytes|xabytes|ytes|bytes)?$/.exec(
      text.trim().toLowerCase(),
    );
  if (match === null) return undefined;
  const bytes = Math.round(Number(match[1]) * 1024 ** binaryPrefixes.indexOf(match[2] ?? ""));
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Comma-separated, trimmed, empty parts dropped (StringUtils.getTrimmedStringCollection). */
export function parseList(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** Where a server listens. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** `host:port`, IPv6 in brackets. */
export function formatHostPort(address: HostPort): string {
  return address.host.includes(":") ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}

/**
 * `host`, `host:port`, `[::1]:port` or `scheme://host:port/…`, as org.apache.hadoop.net.NetUtils.createSocketAddr. No name is resolved.
 * @param defaultPort for text without a port; without it such text is refused
 */
export function parseHostPort(text: string, defaultPort?: number): HostPort | undefined {
  const match = /^(?:[a-zA-Z][a-zA-Z0-9+.-]*:\/\/(?=[^/]+)([^/]*)(?:\/.*)?|([^/]+))$/.exec(text.trim());
  const authority = match?.[1] ?? match?.[2];
  if (authority === undefined) return undefined;
  const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]@\s]+))(?::(\d{1,5}))?$/.exec(authority);
  const host = parts?.[1] ?? parts?.[2];
  const port = parts?.[3] === undefined ? defaultPort : Number(parts[3]);
  if (host === undefined || port === undefined || port > 65_535) return undefined;
  return { host, port };
}

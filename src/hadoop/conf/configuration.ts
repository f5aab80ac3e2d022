import { tmpdir } from "node:os";
import { entryOf } from "../json.ts";
import { ownerHome, ownerName } from "../process-owner.ts";
import { deprecatedNames, hadoopDefaults } from "./defaults.ts";
import { ConfigurationError, type ConfigurationErrorCode, formatLocation, type SourceLocation } from "./errors.ts";
import { expandVariables, maximumSubstitutions } from "./expansion.ts";
import {
  type DurationUnit,
  type HostPort,
  parseDurationMs,
  parseHostPort,
  parseInteger,
  parseList,
  parseSizeBytes,
} from "./values.ts";
import type { XmlProperty } from "./xml.ts";

/** A setting to add to a configuration; without a location it came from a program or a command line. */
export interface Setting {
  readonly name: string;
  readonly value: string | undefined;
  readonly final?: boolean;
  readonly file?: string;
  readonly line?: number;
}

/** A setting that was ignored, because an earlier file declares the key final. */
export interface RefusedSetting {
  readonly setting: Setting;
  readonly keeps: Setting;
}

/** What `${…}` may refer to besides the configuration's own keys. */
export interface ExpansionVariables {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The Java system properties that sites use in values: `user.name`, `user.home` and `java.io.tmpdir`. */
  readonly systemProperties: Readonly<Record<string, string>>;
}

/** The variables of this process. HADOOP_USER_NAME does not change `user.name`: in Java too that is the OS user. */
export function processVariables(environment: NodeJS.ProcessEnv = process.env): ExpansionVariables {
  return {
    environment,
    systemProperties: { "user.name": ownerName(), "user.home": ownerHome(), "java.io.tmpdir": tmpdir() },
  };
}

/**
 * Hadoop's settings: Hadoop's own defaults, then each file or list that was added. Later ones win, except over a final key. Immutable;
 * values are read trimmed and with `${…}` expanded, as org.apache.hadoop.conf.Configuration does.
 */
export class Configuration {
  readonly #settings: ReadonlyMap<string, Setting>;
  readonly #variables: ExpansionVariables;
  /** Attempts of later layers to change a final key, for a warning. */
  readonly refused: readonly RefusedSetting[];

  constructor(
    variables: ExpansionVariables = processVariables(),
    settings: ReadonlyMap<string, Setting> = new Map(),
    refused: readonly RefusedSetting[] = [],
  ) {
    this.#variables = variables;
    this.#settings = settings;
    this.refused = refused;
  }

  /** A configuration with these settings on top. A final key keeps its value. */
  with(layer: Iterable<Setting | XmlProperty>): Configuration {
    const settings = new Map(this.#settings);
    const refused = [...this.refused];
    for (const setting of layer) {
      const name = currentName(setting.name);
      const before = settings.get(name);
      if (before?.final === true) {
        if (setting.value !== undefined && setting.value !== before.value) refused.push({ setting, keeps: before });
      } else if (setting.value !== undefined) {
        settings.set(name, { ...setting, name });
      } else if (setting.final === true) {
        // Final without a value: the earlier value stays for good.
        settings.set(name, { ...(before ?? { name, value: undefined }), final: true });
      }
    }
    return new Configuration(this.#variables, settings, refused);
  }

  /** The same from a plain object: `configuration.withValues({ "fs.defaultFS": "hdfs://nn:8020" })`. */
  withValues(values: Readonly<Record<string, string>>): Configuration {
    return this.with(Object.entries(values).map(([name, value]) => ({ name, value })));
  }

  /** The settings from files and programs, by name, not expanded; Hadoop's own defaults are not among them. */
  entries(): IterableIterator<[string, Setting]> {
    return this.#settings.entries();
  }

  /** The same settings expanded, for another process; a value that cannot be expanded stays as written. */
  values(): Record<string, string> {
    const values: Record<string, string> = {};
    for (const [name, { value }] of this.#settings) {
      if (value !== undefined) values[name] = this.#expand(value) ?? value;
    }
    return values;
  }

  /** Whether a file or program set the key; a default does not count. */
  has(name: string): boolean {
    return this.#settings.get(currentName(name))?.value !== undefined;
  }

  /** The value, expanded and trimmed, or undefined. */
  get(name: string): string | undefined {
    const raw = this.getRaw(name);
    if (raw === undefined) return undefined;
    const expanded = this.#expand(raw);
    if (expanded === undefined) {
      throw this.invalid(name, `needs more than ${maximumSubstitutions} substitutions: ${raw}`);
    }
    return expanded.trim();
  }

  /** The value as written. */
  getRaw(name: string): string | undefined {
    const current = currentName(name);
    return this.#settings.get(current)?.value ?? entryOf(hadoopDefaults, current);
  }

  /** @throws ConfigurationError (CONFIGURATION_MISSING) when the key has no value or an empty one */
  require(name: string): string {
    const value = this.get(name);
    if (value === undefined || value === "") {
      throw new ConfigurationError(`${name} is not set`, {
        code: "CONFIGURATION_MISSING",
        location: this.locate(name),
      });
    }
    return value;
  }

  /** The integer; `fallback` when the key is absent. @throws ConfigurationError when it is not an integer below 2^53 */
  getInteger(name: string, fallback: number): number;
  getInteger(name: string): number | undefined;
  getInteger(name: string, fallback?: number): number | undefined {
    return this.#typed(name, fallback, "a whole number", parseInteger);
  }

  /** Anything but `true` and `false` gives the fallback, as in Hadoop. */
  getBoolean(name: string, fallback: boolean): boolean {
    const value = this.get(name)?.toLowerCase();
    return value === "true" ? true : value === "false" ? false : fallback;
  }

  /** Milliseconds. @param unit the unit of a bare number */
  getDurationMs(name: string, unit: DurationUnit, fallbackMs: number): number;
  getDurationMs(name: string, unit: DurationUnit): number | undefined;
  getDurationMs(name: string, unit: DurationUnit, fallbackMs?: number): number | undefined {
    return this.#typed(name, fallbackMs, "a duration such as 30s or 5m", (text) => parseDurationMs(text, unit));
  }

  /** Bytes, from `128m`, `1gb` or a bare number. */
  getSizeBytes(name: string, fallbackBytes: number): number;
  getSizeBytes(name: string): number | undefined;
  getSizeBytes(name: string, fallbackBytes?: number): number | undefined {
    return this.#typed(name, fallbackBytes, "a size such as 128m or 1gb", parseSizeBytes);
  }

  /** Comma-separated values, trimmed; absent gives an empty list. */
  getList(name: string): string[] {
    return parseList(this.get(name) ?? "");
  }

  /** Host and port. @param defaultPort for a value without one */
  getAddress(name: string, defaultPort?: number): HostPort | undefined {
    return this.#typed(name, undefined, "host:port", (text) => parseHostPort(text, defaultPort));
  }

  /** File and line of the value in effect; undefined for defaults and for settings made by a program. */
  locate(name: string): SourceLocation | undefined {
    const setting = this.#settings.get(currentName(name));
    return setting?.file === undefined || setting.line === undefined
      ? undefined
      : { file: setting.file, line: setting.line };
  }

  /** The key with its location, for messages: `yarn.resourcemanager.address (yarn-site.xml:12)`. */
  describe(name: string): string {
    const location = this.locate(name);
    return location === undefined ? name : `${name} (${formatLocation(location)})`;
  }

  /** An error about a key, prefixed with its location. */
  invalid(name: string, problem: string, code: ConfigurationErrorCode = "CONFIGURATION_INVALID"): ConfigurationError {
    return new ConfigurationError(`${name} ${problem}`, { code, location: this.locate(name) });
  }

  #expand(text: string): string | undefined {
    return expandVariables(text, {
      environment: this.#variables.environment,
      lookUp: (variable) => entryOf(this.#variables.systemProperties, variable) ?? this.getRaw(variable),
    });
  }

  /** An empty value counts as absent, which is how Hadoop's own defaults files use it. */
  #typed<T>(
    name: string,
    fallback: T | undefined,
    kind: string,
    parse: (text: string) => T | undefined,
  ): T | undefined {
    const text = this.get(name);
    if (text === undefined || text === "") return fallback;
    const value = parse(text);
    if (value === undefined) throw this.invalid(name, `must be ${kind}, not "${text}"`);
    return value;
  }
}

function currentName(name: string): string {
  return entryOf(deprecatedNames, name) ?? name;
}

import { HadoopError } from "../errors.ts";

/** The place from which a setting was read. */
export interface SourceLocation {
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

/** `core-site.xml:12`, as editors and compilers print it. */
export function formatLocation(location: SourceLocation): string {
  return `${location.file}:${location.line}`;
}

/** What is wrong with a configuration. */
export type ConfigurationErrorCode =
  /** The file cannot be read. */
  | "CONFIGURATION_UNREADABLE"
  /** The file is not XML, or not a Hadoop configuration. */
  | "CONFIGURATION_MALFORMED"
  /** A value does not have its key's type, or refers to nothing. */
  | "CONFIGURATION_INVALID"
  /** A required key has no value. */
  | "CONFIGURATION_MISSING"
  /** FileSystems does not support this kind of file system. */
  | "FILE_SYSTEM_UNSUPPORTED";

/** An unusable configuration, which a person has to fix. The message names file and line, or the key, and the remedy. */
export class ConfigurationError extends HadoopError {
  override readonly name = "ConfigurationError";
  declare readonly code: ConfigurationErrorCode;
  readonly location: SourceLocation | undefined;
  /** The message without the location. */
  readonly problem: string;

  constructor(
    message: string,
    options: {
      readonly code: ConfigurationErrorCode;
      readonly cause?: unknown;
      readonly location?: SourceLocation | undefined;
    },
  ) {
    super(options.location === undefined ? message : `${formatLocation(options.location)}: ${message}`, options);
    this.location = options.location;
    this.problem = message;
  }
}

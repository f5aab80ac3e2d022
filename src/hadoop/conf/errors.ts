import { HadoopError } from "../errors.ts";

/** Where a setting was read. */
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
  /** A value does not have its key's type, or points at nothing. */
  | "CONFIGURATION_INVALID"
  /** A key that is needed has no value. */
  | "CONFIGURATION_MISSING"
  /** A file system of a kind that FileSystems does not open. */
  | "FILE_SYSTEM_UNSUPPORTED";

/** A configuration that cannot be used. The message names file and line, or the key, and how to mend it; a person mends it. */
export class ConfigurationError extends HadoopError {
  override readonly name = "ConfigurationError";
  declare readonly code: ConfigurationErrorCode;
  readonly location: SourceLocation | undefined;
  /** The message without its place. */
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

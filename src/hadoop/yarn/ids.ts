import { HadoopError } from "../errors.ts";
import type { ApplicationAttemptId, ApplicationId, ContainerId, NodeId } from "./records.ts";

/** The numbers of `application_<clusterTimestampMs>_<application>`. */
export interface ApplicationIdParts {
  /** When the ResourceManager that made the id started. */
  readonly clusterTimestampMs: number;
  readonly application: number;
}

/** The numbers of `appattempt_<clusterTimestampMs>_<application>_<attempt>`. */
export interface AttemptIdParts extends ApplicationIdParts {
  readonly attempt: number;
}

/** The numbers of `container_e<epoch>_<clusterTimestampMs>_<application>_<attempt>_<sequence>`. */
export interface ContainerIdParts extends AttemptIdParts {
  /** Counts the ResourceManager's restarts with recovery; 24 bits. */
  readonly epoch: number;
  /** Counts containers within the attempt; 40 bits. */
  readonly sequence: number;
}

const largestInt32 = 2 ** 31 - 1;
const largestEpoch = 2 ** 23 - 1;
const largestSequence = 2 ** 40 - 1;

/** org.apache.hadoop.yarn.api.records.ApplicationId#toString */
export function formatApplicationId({ clusterTimestampMs, application }: ApplicationIdParts): ApplicationId {
  return `application_${clusterTimestampMs}_${padded(application, 4)}`;
}

/** org.apache.hadoop.yarn.api.records.ApplicationAttemptId#toString */
export function formatAttemptId(parts: AttemptIdParts): ApplicationAttemptId {
  return `appattempt_${parts.clusterTimestampMs}_${padded(parts.application, 4)}_${padded(parts.attempt, 6)}`;
}

/** org.apache.hadoop.yarn.api.records.ContainerId#toString: epoch 0 is left out. */
export function formatContainerId(parts: ContainerIdParts): ContainerId {
  const epoch = parts.epoch === 0 ? "" : `e${padded(parts.epoch, 2)}_`;
  const attempt = `${parts.clusterTimestampMs}_${padded(parts.application, 4)}_${padded(parts.attempt, 2)}`;
  return `container_${epoch}${attempt}_${padded(parts.sequence, 6)}`;
}

/** Throws a HadoopError with code `INVALID_ID` when the text is not an application's id; so do the other parsers. */
export function parseApplicationId(id: ApplicationId): ApplicationIdParts {
  const [timestamp, application] = digitGroups(/^application_(\d+)_(\d+)$/, id, "an application id");
  return {
    clusterTimestampMs: bounded(timestamp, Number.MAX_SAFE_INTEGER, id),
    application: bounded(application, largestInt32, id),
  };
}

export function parseAttemptId(id: ApplicationAttemptId): AttemptIdParts {
  const [timestamp, application, attempt] = digitGroups(
    /^appattempt_(\d+)_(\d+)_(\d+)$/,
    id,
    "an application attempt id",
  );
  return {
    clusterTimestampMs: bounded(timestamp, Number.MAX_SAFE_INTEGER, id),
    application: bounded(application, largestInt32, id),
    attempt: bounded(attempt, largestInt32, id),
  };
}

export function parseContainerId(id: ContainerId): ContainerIdParts {
  const pattern = /^container_(?:e(\d+)_)?(\d+)_(\d+)_(\d+)_(\d+)$/;
  const [epoch, timestamp, application, attempt, sequence] = digitGroups(pattern, id, "a container id");
  return {
    epoch: bounded(epoch ?? "0", largestEpoch, id),
    clusterTimestampMs: bounded(timestamp, Number.MAX_SAFE_INTEGER, id),
    application: bounded(application, largestInt32, id),
    attempt: bounded(attempt, largestInt32, id),
    sequence: bounded(sequence, largestSequence, id),
  };
}

/** The application that an attempt or a container belongs to. */
export function applicationIdOf(id: ApplicationAttemptId | ContainerId): ApplicationId {
  return formatApplicationId(id.startsWith("appattempt_") ? parseAttemptId(id) : parseContainerId(id));
}

/** The application attempt that a container was given to. */
export function attemptIdOf(id: ContainerId): ApplicationAttemptId {
  return formatAttemptId(parseContainerId(id));
}

export function formatNodeId(node: { readonly host: string; readonly port: number }): NodeId {
  return `${node.host}:${node.port}`;
}

/** Splits at the last colon, so that a bracketed IPv6 host stays whole. */
export function parseNodeId(id: NodeId): { readonly host: string; readonly port: number } {
  const match = /^(.+):(\d{1,5})$/.exec(id);
  if (match?.[1] === undefined || match[2] === undefined) throw invalidId(id, "a node id");
  return { host: match[1], port: bounded(match[2], 65_535, id) };
}

function padded(value: number, width: number): string {
  return String(value).padStart(width, "0");
}

function digitGroups(pattern: RegExp, id: string, what: string): readonly (string | undefined)[] {
  const match = pattern.exec(id);
  if (match === null) throw invalidId(id, what);
  return match.slice(1);
}

function bounded(digits: string | undefined, largest: number, id: string): number {
  const value = Number(digits);
  if (!(value <= largest)) throw invalidId(id, "an id with numbers in YARN's ranges");
  return value;
}

function invalidId(id: string, what: string): HadoopError {
  return new HadoopError(`"${id}" is not ${what}`, { code: "INVALID_ID" });
}

import { TonyError } from "../src/errors.ts";
import { type EarlySections, parseEarlySections } from "../src/job/launch/early-sections.ts";
import { executorVariable } from "../src/job/launch/launch-command.ts";
import { parseStagingLocation, type StagingLocation } from "../src/job/stored/staging-location.ts";
import { parseTaskId, type TaskName } from "../src/job/task.ts";

/** What the executor learns from its container's environment. */
export interface ExecutorSettings {
  readonly task: TaskName;
  readonly applicationId: string;
  readonly containerId: string;
  /** NM_HOST: the node's name as the cluster knows it. */
  readonly host: string;
  /** `host:port` of the ApplicationMaster that launched it. */
  readonly masterAddress: string;
  /** Where later attempts write their addresses. */
  readonly staging: StagingLocation;
  readonly attempt: number;
  readonly generation: number;
  readonly isolationMs: number;
  readonly sections: EarlySections;
  /** Names of the further ports that its role asks for. */
  readonly portNames: readonly string[];
  /** The task has a second port, for TensorBoard. */
  readonly tensorBoard: boolean;
  /** Ports are held with SO_REUSEPORT while the program runs. */
  readonly reusePort: boolean;
  /** The container's memory limit; undefined where it is not enforced. */
  readonly memoryLimitBytes?: number;
  /** The first of LOG_DIRS. */
  readonly logFolder: string;
  /** The prefix of its log files' names there (see logPrefixOf). */
  readonly logPrefix: string;
  readonly tokenFile: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const MEBIBYTE = 1_048_576;

/** Throws a TonyError with code `NOT_IN_A_CONTAINER` naming what is missing or malformed. */
export function readSettings(environment: Environment): ExecutorSettings {
  const memory = environment[executorVariable.memoryMiB];
  return {
    task: required(environment, executorVariable.task, parseTaskId),
    applicationId: required(environment, executorVariable.applicationId, text),
    containerId: required(environment, "CONTAINER_ID", text),
    host: required(environment, "NM_HOST", text),
    masterAddress: required(environment, executorVariable.masterAddress, text),
    staging: required(environment, executorVariable.staging, parseStagingLocation),
    attempt: required(environment, executorVariable.attempt, count),
    generation: required(environment, executorVariable.generation, count),
    isolationMs: required(environment, executorVariable.isolationMs, count),
    sections: required(environment, executorVariable.sections, parseEarlySections),
    portNames: (environment[executorVariable.portNames] ?? "").split(",").filter((name) => name !== ""),
    tensorBoard: environment[executorVariable.tensorBoard] === "true",
    reusePort: environment[executorVariable.reusePort] === "true",
    ...(memory && { memoryLimitBytes: required(environment, executorVariable.memoryMiB, count) * MEBIBYTE }),
    logFolder: required(environment, "LOG_DIRS", (folders) => folders.split(",")[0]),
    logPrefix: environment[executorVariable.logPrefix] ?? "",
    tokenFile: required(environment, "HADOOP_TOKEN_FILE_LOCATION", text),
  };
}

/** The container's environment without the executor's own variables. */
export function inheritedEnvironment(environment: Environment): Record<string, string | undefined> {
  const own: readonly string[] = Object.values(executorVariable);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !own.includes(name)));
}

function required<Value>(environment: Environment, name: string, parse: (text: string) => Value | undefined): Value {
  const raw = environment[name] ?? "";
  const value = raw === "" ? undefined : parse(raw);
  if (value !== undefined) return value;
  const problem = raw === "" ? "is not set" : `has the value ${raw}`;
  throw new TonyError(`${name} ${problem}: the executor is started by its ApplicationMaster`, {
    code: "NOT_IN_A_CONTAINER",
  });
}

function text(value: string): string {
  return value;
}

function count(value: string): number | undefined {
  return /^[1-9]\d{0,9}$/.test(value) ? Number(value) : undefined;
}

import path from "node:path";
import { TonyError } from "../src/errors.ts";
import { attemptIdOf, parseAttemptId } from "../src/hadoop/yarn/ids.ts";
import type { NodeAddress } from "./scheduler/local/container.ts";

/** What the container of an ApplicationMaster says about itself. */
export interface MasterSettings {
  readonly containerId: string;
  /** Counts from 1. */
  readonly attempt: number;
  /** When the ResourceManager accepted the application, by its clock; absent with the local scheduler. */
  readonly submittedAtMs?: number;
  /** The node's name as YARN knows it; never the operating system's host name, which other machines may not resolve. */
  readonly host: string;
  /** The same, as YARN tells it to containers. */
  readonly node: NodeAddress;
  readonly logFolder: string;
  readonly tokenFile: string;
  /**
   * Proves the AM to YARN's proxy and the proxy to the AM; absent: the site's `yarn.resourcemanager.application-https.policy` is
   * `NONE`.
   */
  readonly keyStore?: { readonly file: string; readonly password: string };
  /** Started by `tony-ts` on its own machine, not by a NodeManager. */
  readonly local: boolean;
  /** Where containers of the local scheduler get their folders. */
  readonly localFolder: string;
}

/** Reads what a NodeManager, or the client for the local scheduler, sets. Throws a TonyError with code `NOT_IN_A_CONTAINER`. */
export function readSettings(environment: NodeJS.ProcessEnv): MasterSettings {
  const needed = (name: string): string => {
    const value = environment[name];
    if (value !== undefined && value !== "") return value;
    throw new TonyError(`${name} is not set: the ApplicationMaster is started by YARN, or by \`tony-ts submit\``, {
      code: "NOT_IN_A_CONTAINER",
    });
  };
  const containerId = needed("CONTAINER_ID");
  // ApplicationConstants#APP_SUBMIT_TIME_ENV, which AMLauncher sets.
  const submittedAtMs = Number(environment.APP_SUBMIT_TIME_ENV ?? 0);
  const host = needed("NM_HOST");
  const { KEYSTORE_FILE_LOCATION: keyStore, KEYSTORE_PASSWORD: password } = environment;
  return {
    containerId,
    attempt: parseAttemptId(attemptIdOf(containerId)).attempt,
    ...(submittedAtMs > 0 && { submittedAtMs }),
    host,
    node: { host, port: Number(environment.NM_PORT ?? 0), httpAddress: `${host}:${environment.NM_HTTP_PORT ?? 0}` },
    logFolder: firstOf(needed("LOG_DIRS")),
    tokenFile: needed("HADOOP_TOKEN_FILE_LOCATION"),
    // org.apache.hadoop.yarn.api.ApplicationConstants
    ...(keyStore && password ? { keyStore: { file: keyStore, password } } : {}),
    local: environment.TONY_SCHEDULER === "local",
    localFolder: path.resolve(firstOf(needed("LOCAL_DIRS"))),
  };
}

/** YARN gives a folder for each disk. */
function firstOf(folders: string): string {
  return folders.split(",")[0] ?? folders;
}

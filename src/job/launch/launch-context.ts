import type { LaunchContext, LocalResource } from "../../hadoop/yarn/records.ts";
import { holdersOf } from "../access-list.ts";
import { parseFileUrl } from "../file-url.ts";
import type { JobSpec } from "../spec.ts";
import type { ShippedFile } from "../stored/job-file.ts";

/** What a container runs, in a form for any scheduler. */
export interface ContainerLaunch {
  /** Files by link name, as job.json names them. */
  readonly files: readonly ShippedFile[];
  readonly environment: Readonly<Record<string, string>>;
  readonly commands: readonly string[];
  /** A token file's bytes (HDTS). */
  readonly credentials: Uint8Array;
  /** See tokensConf; only for an ApplicationMaster. */
  readonly tokensConf?: LaunchContext["tokensConf"];
  /** Who may see and who may end the application. A node uses those of the application's first container there. */
  readonly acls?: LaunchContext["acls"];
}

/** From the job's keys. */
export function aclsOf(spec: JobSpec): NonNullable<LaunchContext["acls"]> {
  const viewers = holdersOf("view", spec);
  const modifiers = holdersOf("modify", spec);
  return { ...(viewers !== undefined && { viewers }), ...(modifiers !== undefined && { modifiers }) };
}

/** The same in YARN's form. */
export function launchContext(launch: ContainerLaunch): LaunchContext {
  const { files, environment, commands, credentials, tokensConf, acls } = launch;
  return {
    localResources: Object.fromEntries(files.map((file) => [file.link, localResource(file)])),
    environment,
    commands,
    credentials,
    ...(tokensConf !== undefined && { tokensConf }),
    ...(acls !== undefined && { acls }),
  };
}

/** A shipped file as YARN's record. */
function localResource({ url, sizeBytes, modificationTimeMs, type, visibility }: ShippedFile): LocalResource {
  return { url: parseFileUrl(url), sizeBytes, modificationTimeMs, type, visibility };
}

import type { LaunchContext, LocalResource } from "../hadoop/yarn/records.ts";
import { parseFileUrl } from "./file-url.ts";
import type { ShippedFile } from "./job-file.ts";

/** What a container runs, as any scheduler is told of it. */
export interface ContainerLaunch {
  /** Files by link name, as job.json names them. */
  readonly files: readonly ShippedFile[];
  readonly environment: Readonly<Record<string, string>>;
  readonly commands: readonly string[];
  /** A token file's bytes (HDTS). */
  readonly credentials: Uint8Array;
}

/** The same as YARN is told of it. */
export function launchContext({ files, environment, commands, credentials }: ContainerLaunch): LaunchContext {
  return {
    localResources: Object.fromEntries(files.map((file) => [file.link, localResource(file)])),
    environment,
    commands,
    credentials,
  };
}

/** A shipped file as YARN's record. */
function localResource({ url, sizeBytes, modificationTimeMs, type, visibility }: ShippedFile): LocalResource {
  return { url: parseFileUrl(url), sizeBytes, modificationTimeMs, type, visibility };
}

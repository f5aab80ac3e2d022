import type { LaunchContext, LocalResource } from "../../../src/hadoop/yarn/records.ts";
import { parseFileUrl } from "../../../src/job/file-url.ts";
import type { LaunchFile } from "../../../src/job/job-file.ts";
import type { ContainerCommand } from "../scheduler.ts";

/** A container's command as a NodeManager is told of it. */
export function launchContext(command: ContainerCommand): LaunchContext {
  return {
    localResources: Object.fromEntries(command.files.map((file) => [file.link, localResource(file)])),
    environment: command.environment,
    commands: command.commands,
    credentials: command.credentials,
  };
}

function localResource({ url, sizeBytes, modificationTimeMs, type, visibility }: LaunchFile): LocalResource {
  return { url: parseFileUrl(url), sizeBytes, modificationTimeMs, type, visibility };
}

import type { LaunchContext } from "../../../src/hadoop/yarn/records.ts";
import { launchContext } from "../../../src/job/launch-context.ts";
import type { ContainerCommand } from "../scheduler.ts";

/**
 * How a further program is launched in a container's working directory, where the one before has left its files and its links: in a folder
 * of its own, which holds its links alone. All the rest but the NodeManager's own files is removed beside its start.
 * @param folder its name; new in that container
 */
export function relaunchContext(command: ContainerCommand, folder: string): LaunchContext {
  const { files, environment, commands } = command;
  return launchContext({
    ...command,
    files: files.map((file) => ({ ...file, link: `${folder}/${file.link}` })),
    environment: Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, within(folder, value)])),
    commands: [enter.replaceAll("@FOLDER@", folder), ...commands],
  });
}

/** Links cost nothing, and the NodeManager may still read what it wrote itself. */
const enter = `mkdir -p @FOLDER@ && cd @FOLDER@ || exit 1
find .. -mindepth 1 -maxdepth 1 ! -type l ! -name @FOLDER@ ! -name tmp ! -name sysfs ! -name container_tokens ! -name 'yarn_provided.*' ! -name '*.sh' ! -name '.*.crc' -exec rm -rf {} + </dev/null >/dev/null 2>&1 &
`;

/** The launch script expands the working directory's path before the command enters the folder (ContainerLaunch#expandEnvironment). */
function within(folder: string, value: string): string {
  return value.replace(/(?<!\\)(\$PWD\b|\$\{PWD\}|\{\{PWD\}\})/g, `$1/${folder}`);
}

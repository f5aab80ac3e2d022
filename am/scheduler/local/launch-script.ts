/** How a container is started: what YARN's launch_container.sh does with a ContainerLaunchContext. */
export interface ScriptInput {
  readonly environment: Readonly<Record<string, string>>;
  readonly commands: readonly string[];
  readonly logFolder: string;
}

/**
 * The script that becomes the container's first process. Values and commands are put in double quotes, so that bash expands
 * `$…` in both as in a NodeManager's script (org.apache.hadoop.yarn.server.nodemanager.containermanager.launcher.ContainerLaunch).
 *
 * Descriptor 3 is a pipe whose other end the ApplicationMaster holds. A NodeManager outlives its applications and cleans up after them;
 * here a guard process reads from that pipe and ends the container's process group when the ApplicationMaster is gone.
 */
export function launchScript({ environment, commands, logFolder }: ScriptInput): string {
  const command = replaceMarks(commands.join(" "), logFolder);
  return [
    "#!/bin/bash",
    "( trap '' TERM INT HUP; read -r _ <&3; kill -TERM 0; sleep 0.25; kill -KILL 0 ) </dev/null >/dev/null 2>&1 &",
    "exec 3<&-",
    ...exportLines(environment, logFolder),
    `exec /bin/bash -c "${command}"`,
    "",
  ].join("\n");
}

/** One variable a line, as a NodeManager's script sets them. */
export function exportLines(environment: ScriptInput["environment"], logFolder: string): string[] {
  return Object.entries(environment).map(([name, value]) => `export ${name}="${replaceMarks(value, logFolder)}"`);
}

/** As ContainerLaunch#expandEnvironment does on Linux. */
function replaceMarks(text: string, logFolder: string): string {
  return text.replaceAll("<LOG_DIR>", logFolder).replaceAll("<CPS>", ":").replaceAll("{{", "$").replaceAll("}}", "");
}

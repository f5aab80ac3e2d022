import { formatHostPort, type HostPort, parseHostPort } from "../hadoop/conf/values.ts";
import { escapeForLaunchScript } from "./launch-command.ts";

/** Tells an ApplicationMaster that there is no job: it is to register with one of these ResourceManagers (`host:port,…`) and to end. */
export const PROBE_VARIABLE = "TONY_PROBE";

/** The variable's value as a container's environment takes it. */
export function probeEnvironment(resourceManagers: readonly HostPort[]): Record<string, string> {
  return { [PROBE_VARIABLE]: escapeForLaunchScript(resourceManagers.map(formatHostPort).join(",")) };
}

export function parseProbe(value: string): HostPort[] {
  return value.split(",").flatMap((address) => parseHostPort(address, 0) ?? []);
}

import { frameworks } from "../../frameworks/frameworks.ts";
import { keyFor } from "../keys.ts";
import type { RoleSpec } from "../spec.ts";
import type { JobReader } from "./job-reader.ts";

/** Those that make several processes in a container. */
const severalRunners = Object.entries(frameworks)
  .filter(([, { severalProcesses }]) => severalProcesses !== undefined)
  .map(([name]) => name)
  .join(", ");

/** What the job's framework refuses. */
export function checkFramework(reader: JobReader, roles: readonly RoleSpec[]): void {
  const name = reader.read("tony.application.framework");
  const framework = frameworks[name];
  const isSearch = [...reader.settings.keys()].some((key) => key.startsWith("tony.search."));
  const distributedMode = reader.read("tony.application.distributed-mode");
  for (const { severity, key, message } of framework.check?.({ roles, distributedMode, isSearch }) ?? []) {
    if (severity === "error") reader.error(key, message);
    else reader.warn(key, message);
  }
  if (framework.severalProcesses !== undefined) return;
  for (const { name: role, processes } of roles) {
    if (processes > 1) {
      reader.error(
        keyFor("tony.{role}.processes", { role }),
        `is ${processes}, and ${name} runs one in each container: ${severalRunners} run several`,
      );
    }
  }
}

import { posix } from "node:path";
import type { JobReader } from "./job-reader.ts";
import { keyFor } from "./keys.ts";
import { programFileOf, shippingWords } from "./program-file.ts";
import { hasScheme } from "./resource-strings.ts";
import type { FileToShip, RoleSpec } from "./spec.ts";

/** Warns of a program that lies on this machine and does not travel with the job. */
export function checkProgramFiles(reader: JobReader, roles: readonly RoleSpec[], shared: readonly FileToShip[]): void {
  const warned = new Set<string>();
  for (const { name: role, command, files } of roles) {
    const own = keyFor("tony.{role}.command", { role });
    const key = reader.settings.has(own) ? own : "tony.containers.command";
    const file = programFileOf(command);
    const place = file === undefined ? undefined : reader.localFile(key, file);
    if (file === undefined || place === undefined || warned.has(key)) continue;
    if ([...shared, ...files].some((resource) => mayBring(reader, resource, file))) continue;
    warned.add(key);
    reader.warn(key, `runs ${file}, but ${place} does not travel with the job: bring it by ${shippingWords(role)}`);
  }
}

/** Whether the file may come with that one; what an archive or a URL holds is not known here. */
function mayBring(reader: JobReader, { name, source, as }: FileToShip, file: string): boolean {
  if (as !== "working-directory") return file.split("/")[0] === name;
  return (
    hasScheme(source) || reader.lookUp(source) !== "directory" || reader.lookUp(posix.join(source, file)) === "file"
  );
}

import { posix } from "node:path";
import { pathInside, programFileOf, shippingWords } from "../diagnosis/program-file.ts";
import { keyFor } from "../keys.ts";
import type { FileToShip, RoleSpec } from "../spec.ts";
import type { JobReader } from "./job-reader.ts";
import { hasScheme } from "./resource-strings.ts";

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
    const sources = shared.find(({ as, source }) => as === "working-directory" && place.startsWith(`${source}/`));
    if (sources !== undefined) {
      const inside = place.slice(sources.source.length + 1);
      // An option of that kind is told of itself.
      const isTold = reader.settings.get(key)?.at === "-executes" && pathInside(file, sources.source) !== undefined;
      if (!isTold) reader.warn(key, `runs ${file}, which --src_dir brings as ${inside}: write ${inside}`);
      continue;
    }
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

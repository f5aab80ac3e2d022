import { posix } from "node:path";
import { launchedFileOf, pathInside, programFileOf, shippingWords } from "../diagnosis/program-file.ts";
import { keyFor } from "../keys.ts";
import { nearest } from "../nearest.ts";
import type { FileToShip, RoleSpec } from "../spec.ts";
import type { JobReader } from "./job-reader.ts";
import { hasScheme } from "./resource-strings.ts";

/**
 * Warns of a program that does not travel with the job: one that lies on this machine, and one that is nowhere. A relative path is one in
 * the container's working directory, where only what the job ships is.
 */
export function checkProgramFiles(reader: JobReader, roles: readonly RoleSpec[], shared: readonly FileToShip[]): void {
  const warned = new Set<string>();
  for (const { name: role, command, files } of roles) {
    const own = keyFor("tony.{role}.command", { role });
    const key = reader.settings.has(own) ? own : "tony.containers.command";
    const file = programFileOf(command) ?? launchedFileOf(command);
    const place = file === undefined ? undefined : reader.localFile(key, file);
    if (file === undefined || warned.has(key)) continue;
    const shipped = [...shared, ...files];
    if (shipped.some((resource) => mayBring(reader, resource, file))) continue;
    const shippedNames = shipped.map(({ name }) => name);
    warned.add(key);
    if (place === undefined) {
      const name = posix.basename(file);
      const isThere = name !== file && shipped.some((resource) => mayBring(reader, resource, name));
      const near = isThere ? name : nearest(file, shippedNames);
      const mend =
        near === undefined ? `check its name, or ship it with ${shippingWords(role)}` : `did you mean ${near}?`;
      reader.warn(key, `runs ${file}, which the job does not ship: ${mend}`);
      continue;
    }
    const sources = shared.find(({ as, source }) => as === "working-directory" && place.startsWith(`${source}/`));
    if (sources !== undefined) {
      const inside = place.slice(sources.source.length + 1);
      // An option of that kind is told of itself.
      const isTold = reader.settings.get(key)?.at === "-executes" && pathInside(file, sources.source) !== undefined;
      if (!isTold) reader.warn(key, `runs ${file}, which --src_dir brings as ${inside}: write ${inside}`);
      continue;
    }
    reader.warn(key, `runs ${file}, but ${place} is not shipped with the job: ship it with ${shippingWords(role)}`);
  }
}

/** Whether the file may come with that one; what an archive or a URL holds is not known here. */
function mayBring(reader: JobReader, { name, source, as }: FileToShip, file: string): boolean {
  const inside = as === "working-directory" ? file : file.split("/").slice(1).join("/");
  if (as !== "working-directory" && (inside === "" || file.split("/")[0] !== name)) return file === name;
  return (
    hasScheme(source) || reader.lookUp(source) !== "directory" || reader.lookUp(posix.join(source, inside)) === "file"
  );
}

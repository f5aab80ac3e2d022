import path from "node:path";
import { buffer } from "node:stream/consumers";
import { formatHostPort } from "../src/hadoop/conf/values.ts";
import type { FileSystem } from "../src/hadoop/hdfs/file-system.ts";
import { count, object, string } from "../src/job/shape.ts";
import type { StagingLocation } from "../src/job/staging-location.ts";
import { openFileSystems } from "./file-systems.ts";
import type { MasterAddress } from "./master-link.ts";

/** `am-<attempt>.json`: what each attempt of the ApplicationMaster leaves in the staging folder. */
const addressFile = /^am-(\d+)\.json$/;
const announced = object<{ attempt: number; host: string; port: number }>({
  required: { attempt: count, host: string, port: count },
  optional: {},
});

/** Where the newest attempt says it is, from the job's staging folder; undefined when that cannot be told now. */
export async function findMaster(staging: StagingLocation): Promise<MasterAddress | undefined> {
  const fileSystems = await openFileSystems(staging);
  try {
    const { fileSystem, path: folder } = fileSystems.locate(staging.stagingUrl);
    return await newestAddress(fileSystem, folder);
  } catch {
    return undefined;
  } finally {
    fileSystems.close();
  }
}

async function newestAddress(fileSystem: FileSystem, folder: string): Promise<MasterAddress | undefined> {
  const attempts = (await fileSystem.list(folder)).flatMap(({ path: file }) => {
    const [, attempt] = addressFile.exec(path.posix.basename(file)) ?? [];
    return attempt === undefined ? [] : [Number(attempt)];
  });
  if (attempts.length === 0) return undefined;
  const file = path.posix.join(folder, `am-${Math.max(...attempts)}.json`);
  const { attempt, host, port } = announced(
    JSON.parse((await buffer(await fileSystem.open(file))).toString("utf8")),
    "",
  );
  return { attempt, address: formatHostPort({ host, port }) };
}

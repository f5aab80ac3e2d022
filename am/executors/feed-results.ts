import path from "node:path/posix";
import type { LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";
import { listIfThere } from "../../src/hadoop/hdfs/if-there.ts";
import { type Plan, splitAt } from "../../src/job/feeds/plan.ts";
import { partName, UNFINISHED_RESULTS } from "../../src/job/feeds/results.ts";

const permission = 0o640;

/**
 * Says beside the results which split each is of, and that all are there. May be done again.
 * @returns how many splits have none
 */
export async function finishResults({ fileSystem, path: output }: LocatedPath, plan: Plan): Promise<number> {
  const found = await listIfThere(fileSystem, output);
  const lengths = new Map(found.map((file) => [path.basename(file.path), file.lengthBytes]));
  const splits = Array.from({ length: plan.splits }, (_, number) => {
    const { file, start, end } = splitAt(plan, number) ?? {};
    const part = partName(number);
    const bytes = lengths.get(part);
    return { input: file?.path, start, end, ...(bytes !== undefined && { part, bytes }) };
  });
  const missing = splits.filter(({ part }) => part === undefined).length;
  const write = (name: string, content: string) =>
    fileSystem.create(path.join(output, name), Buffer.from(content), { permission, overwrite: true });
  await write("_manifest.json", JSON.stringify({ splits }));
  // As Hadoop's jobs say that their output is whole.
  if (missing === 0) await write("_SUCCESS", "");
  await fileSystem.delete(path.join(output, UNFINISHED_RESULTS), { recursive: true });
  return missing;
}

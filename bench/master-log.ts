import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { ClusterStatus } from "../test/support/cluster.ts";

/** When an application's AMs first wrote a line of that event that contains the text, by their logs on the nodes. */
export function loggedAtMs(cluster: ClusterStatus, id: string, event: string, text: string): number | undefined {
  const lines = cluster.nodes.flatMap(({ folder }) => linesBelow(path.join(folder, "logs", id)));
  const line = lines.find((written) => written.includes(`"event":"${event}"`) && written.includes(text));
  const time = line === undefined ? undefined : /"time":"([^"]+)"/.exec(line)?.[1];
  return time === undefined ? undefined : Date.parse(time);
}

function linesBelow(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map((container) => path.join(folder, container, "am.log"))
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, "utf8").split("\n"));
}

import { Problem } from "../problem.mjs";
import { javaCommand, theDaemon } from "./daemons.mjs";
import { lastLines, runToEnd } from "./programs.mjs";
import { takeTicket } from "./secure/realm.mjs";

/** @import { ClusterRecord } from "./record.mjs" */

/**
 * Runs one of Hadoop's administration programs to its end, as the user of a master.
 * @param {ClusterRecord} cluster
 * @param {"NameNode" | "ResourceManager"} kind the kind of that master
 * @param {{ mainClass: string, programArguments: string[] }} program
 */
export async function administer(cluster, kind, { mainClass, programArguments }) {
  const master = theDaemon(cluster, kind);
  const { user } = master;
  const name = `${master.name}-administration`;
  const { environment, ...java } = javaCommand(cluster, { ...master, name, heapMiB: 64, mainClass, programArguments });
  const login = cluster.settings.secure ? { KRB5CCNAME: await takeTicket(cluster, user.name, { owner: user }) } : {};
  const program = { ...java, environment: { ...environment, ...login } };
  const { code, output } = await runToEnd(program, { cwd: cluster.state, user });
  const shown = [mainClass.split(".").at(-1), ...programArguments].join(" ");
  if (code !== 0) throw new Problem(`${shown} failed (exit ${code}):\n${lastLines(output)}`);
}

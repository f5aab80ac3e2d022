import { existsSync } from "node:fs";
import { join } from "node:path";
import { Problem } from "../problem.mjs";
import { daemonsOf, javaCommand, theDaemon } from "./daemons.mjs";
import { layout } from "./folders.mjs";
import { lastLines, runToEnd } from "./programs.mjs";

/** @import { Daemon } from "./daemons.mjs" */
/** @import { ClusterRecord } from "./record.mjs" */

/** An exit code of DFSZKFailoverController (ERR_CODE_FORMAT_DENIED): it is formatted already. */
const FORMATTED_BEFORE = 2;

/**
 * Formats what NameNodes and their ZKFCs need, if it was never formatted: the folder of each NameNode, and ZooKeeper's node for the
 * election. ZooKeeper and the JournalNode have to run.
 * @param {ClusterRecord} cluster
 */
export async function formatWhatIsNew(cluster) {
  const daemons = daemonsOf(cluster);
  const first = theDaemon(cluster, "NameNode");
  const others = daemons.filter((daemon) => daemon.kind === "NameNode" && daemon.name !== first.name);
  const failoverController = daemons.find(({ kind }) => kind === "ZKFC");
  await Promise.all([
    isFormatted(cluster, first) || format(cluster, first, "-format"),
    failoverController === undefined || format(cluster, failoverController, "-formatZK"),
  ]);
  for (const other of others) {
    if (!isFormatted(cluster, other)) await copyFormatted(cluster, first, other);
  }
}

/** @param {ClusterRecord} cluster @param {Daemon} nameNode */
const current = (cluster, { name }) => join(layout(cluster.state).daemonData(name), "current");
/** @param {ClusterRecord} cluster @param {Daemon} nameNode */
const isFormatted = (cluster, nameNode) => existsSync(current(cluster, nameNode));

/** @param {ClusterRecord} cluster @param {Daemon} daemon @param {string} option */
async function format(cluster, daemon, option) {
  const once = { ...daemon, name: `${daemon.name}-format`, programArguments: [option, "-nonInteractive"] };
  const { code, output } = await runToEnd(javaCommand(cluster, once), { cwd: cluster.state, user: daemon.user });
  if (code !== 0 && code !== FORMATTED_BEFORE) throw failed(`${daemon.title} ${option}`, code, output);
}

/**
 * Copies what `-bootstrapStandby` would fetch from a running NameNode; the copy also belongs to the NameNode's user.
 * @param {ClusterRecord} cluster @param {Daemon} from @param {Daemon} to
 */
async function copyFormatted(cluster, from, to) {
  const args = ["-r", current(cluster, from), current(cluster, to)];
  const { code, output } = await runToEnd(
    { command: "cp", args, environment: process.env },
    { cwd: cluster.state, user: to.user },
  );
  if (code !== 0) throw failed(`cp ${args.join(" ")}`, code, output);
}

/** @param {string} what @param {number | null} code @param {string} output */
const failed = (what, code, output) => new Problem(`${what} failed (exit ${code}):\n${lastLines(output)}`);

// @ts-nocheck
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Problem } from "../problem.mjs";
import { daemonsOf, javaCommand } from "./daemons.mjs";
import { layout } from "./folders.mjs";
import { lastLines, runToEnd } from "./programs.mjs";

/** Of DFSZKFailoverController (ERR_CODE_FORMAT_DENIED): it is there already. */
const FORMATTED_BEFORE = 2;

/**
 * Makes what NameNodes and their ZKFCs start from, where it was never made: the folder of each NameNode, and ZooKeeper's node for the
 * election. ZooKeeper and the JournalNode run.
 * @param {import("./record.mjs").ClusterRecord} cluster
 */
export async function formatWhatIsNew(cluster) {
  const daemons = daemonsOf(cluster);
  const [first, ...others] = daemons.filter(({ kind }) => kind === "NameNode");
  const failoverController = daemons.find(({ kind }) => kind === "ZKFC");
  await Promise.all([
    isFormatted(cluster, first) || format(cluster, first, "-format"),
    failoverController === undefined || format(cluster, failoverController, "-formatZK"),
  ]);
  for (const other of others) {
    if (!isFormatted(cluster, other)) await copyFormatted(cluster, first, other);
  }
}

const current = (cluster, { name }) => join(layout(cluster.state).daemonData(name), "current");
const isFormatted = (cluster, nameNode) => existsSync(current(cluster, nameNode));

async function format(cluster, daemon, option) {
  const once = { ...daemon, name: `${daemon.name}-format`, programArguments: [option, "-nonInteractive"] };
  const { code, output } = await runToEnd(javaCommand(cluster, once), { cwd: cluster.state, user: daemon.user });
  if (code !== 0 && code !== FORMATTED_BEFORE) throw failed(`${daemon.title} ${option}`, code, output);
}

/** What `-bootstrapStandby` fetches from a NameNode that runs; the copy belongs to the NameNode's user too. */
async function copyFormatted(cluster, from, to) {
  const args = ["-r", current(cluster, from), current(cluster, to)];
  const { code, output } = await runToEnd(
    { command: "cp", args, environment: process.env },
    { cwd: cluster.state, user: to.user },
  );
  if (code !== 0) throw failed(`cp ${args.join(" ")}`, code, output);
}

const failed = (what, code, output) => new Problem(`${what} failed (exit ${code}):\n${lastLines(output)}`);

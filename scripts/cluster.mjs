#!/usr/bin/env node
import { parseArgs } from "node:util";
import { daemonsOf } from "./cluster/daemons.mjs";
import { decommission, recommission } from "./cluster/decommissioning.mjs";
import { down } from "./cluster/down.mjs";
import { stateFolder } from "./cluster/folders.mjs";
import { plug, unplug, unplugFrom } from "./cluster/isolation.mjs";
import { endDaemon, runningPid, signalDaemon, startDaemon } from "./cluster/processes.mjs";
import { progressTo } from "./cluster/progress.mjs";
import { readRecord } from "./cluster/record.mjs";
import { DEFAULT_RELEASE, RELEASES } from "./cluster/releases.mjs";
import { takeTicket } from "./cluster/secure/realm.mjs";
import { clusterStatus } from "./cluster/status.mjs";
import { prepareJars, up } from "./cluster/up.mjs";
import { Problem, runMain, wordsOf } from "./problem.mjs";

/** @import { Settings } from "./cluster/record.mjs" */

const USAGE = `A real Hadoop on this machine: NameNode, DataNode, ResourceManager and two NodeManagers.

  npm run cluster -- up      starts what does not run, and waits until jobs can be submitted
  npm run cluster -- down    ends it: applications, daemons, every process of a container
  npm run cluster -- run     up, then stays; at its end (Ctrl-C, SIGTERM) down
  npm run cluster -- jars    fetches Hadoop's jars and no more
  npm run cluster -- status  daemons, pids, memory, addresses
  npm run cluster -- env     shell lines: HADOOP_CONF_DIR, and tony-ts on PATH
                             eval "$(npm run -s cluster -- env)"
                             --as USER on a secure cluster: with a fresh ticket of that user (alice, bob, carol, nohome, azkaban, hdfs, yarn, you),
                             --ticket-lifetime S good for so many seconds
  npm run cluster -- kill|term|stop|cont|start DAEMON
                             a signal to one daemon (SIGKILL, SIGTERM, SIGSTOP, SIGCONT), or its start
                             DAEMON: namenode, datanode, resourcemanager, nm1, nm2
                             httpfs with --httpfs, router with --router, timelineserver with --timeline, kdc and kms with --secure
                             with --ha: nn1, zkfc1, rm1, nn2, zkfc2, rm2, zookeeper, journalnode, datanode, nm1, nm2
  npm run cluster -- unplug|plug DAEMON
                             cuts the network of an isolated NodeManager and its containers, or mends it
                             --from HOST with unplug: cuts it off from that address alone
  npm run cluster -- decommission|recommission DAEMON
                             the ResourceManager takes a NodeManager out when its containers have ended, or uses it again
                             --within S with decommission: after so many seconds at the latest (default 60)

  --name NAME                which cluster (default: default); several can run side by side
  --json                     with status and env
  --delete                   with down: removes the cluster's folder too
 with up, when it does not run yet:
  --release X                of Hadoop: ${Object.keys(RELEASES).join(", ")} (default ${DEFAULT_RELEASE}); with jars too
  --nm-heartbeat-ms N        how often NodeManagers report (default 1000)
  --ha                       two NameNodes and two ResourceManagers, each with automatic failover
  --secure                   Kerberos, tokens and HTTPS everywhere, a KMS with an encryption zone (as root)
  --protection privacy|integrity|authentication  of RPC and HDFS's data with --secure (default privacy)
  --token-lifetime S         of delegation tokens with --secure, in seconds, to be renewed after half of it (default 7 days)
  --httpfs                   an HttpFS beside the NameNode: WebHDFS at one address, data too
  --router                   a router of HDFS's federation in front of the NameNode
  --timeline                 a timeline server beside the ResourceManager, which gives delegation tokens with --secure
  --nodes N                  NodeManagers (default 2; the second has 2 GPUs and the label gpu)
  --label exclusive|shareable|none   who may use the labelled node (default shareable: whoever asks for gpu first)
  --calculator dominant|default  what the capacity scheduler counts: every resource (default), or memory alone, as Hadoop's own default
  --scheduler capacity|fair  the ResourceManager's scheduler (default capacity); with fair there are no queues but those that jobs name
  --scheduling heartbeat|async|multi-node  the capacity scheduler gives a node containers when that reports (default), at any time,
                             or chooses among all nodes
  --preemption               queues take back what the other borrowed; no node has GPUs then
  --isolate N                NodeManager N has a network of its own (as root)
  --small-disk N             NodeManager N has a disk of 1 GiB for its containers' files (as root)
  --compiler quick|full      how daemons' Java compiles: for a quick start (default), or for throughput, as Hadoop's own scripts have it
  --set KEY=VALUE            any key of Hadoop, in the file it belongs to; may be repeated
                             (yarn.resource-types=nvidia.com/gpu,…: the second node has 2 of each, instead of yarn.io/gpu)
  TONY_CLUSTER_DIR           parent folder of the clusters' folders (default .cluster here)`;

/**
 * Options with a fixed set of values.
 * @type {{ readonly [Option in "protection" | "label" | "calculator" | "scheduler" | "scheduling" | "release" | "compiler"]: readonly
 * Settings[Option][] }}
 */
const CHOICES = {
  protection: ["privacy", "integrity", "authentication"],
  label: ["exclusive", "shareable", "none"],
  calculator: ["dominant", "default"],
  scheduler: ["capacity", "fair"],
  scheduling: ["heartbeat", "async", "multi-node"],
  release: Object.keys(RELEASES),
  compiler: ["quick", "full"],
};

const SWITCHES = /** @type {const} */ (["ha", "secure", "httpfs", "router", "timeline", "preemption"]);
const OF_SECURE_CLUSTERS = /** @type {const} */ (["protection", "token-lifetime"]);

const DAEMON_COMMANDS = ["start", "unplug", "plug", "decommission", "recommission"];
/** @type {Readonly<Record<string, NodeJS.Signals>>} */
const SIGNALS = { kill: "SIGKILL", term: "SIGTERM", stop: "SIGSTOP", cont: "SIGCONT" };

await runMain(async () => {
  const { command, daemon, from, withinS, login, name, json, deleteState, settings, help } = parseCommandLine(
    process.argv.slice(2),
  );
  if (help) console.log(USAGE);
  else if (command === "up") await up(name, settings, progressTo(process.stderr));
  else if (command === "run") await runUntilSignal(name, settings);
  else if (command === "jars") await prepareJars(settings, progressTo(process.stderr));
  else if (command === "down") await reportDown(name, deleteState);
  else if (command === "status") return await printStatus(name, json);
  else if (command === "env") await printEnvironment(name, json, login);
  else await controlDaemon(name, command, daemon, { from, withinS });
  return 0;
});

/** @param {string[]} args */
function parseCommandLine(args) {
  const { values, positionals } = parse(args);
  const [command = "", daemon = "", ...rest] = positionals;
  const takesDaemon = DAEMON_COMMANDS.includes(command) || Object.hasOwn(SIGNALS, command);
  const known = takesDaemon || ["up", "down", "run", "jars", "status", "env"].includes(command);
  const help = values.help === true || command === "";
  if (!help && (!known || rest.length > 0 || takesDaemon !== (daemon !== ""))) {
    throw new Problem(`Not understood: ${positionals.join(" ")}\n\n${USAGE}`, { exitCode: 2 });
  }
  const name = values.name ?? "default";
  if (!/^[a-z0-9][a-z0-9-]*$/.test(name)) {
    throw new Problem(`--name ${name}: only lower-case letters, digits and dashes, starting with a letter or digit`, {
      exitCode: 2,
    });
  }
  if (values.from !== undefined && command !== "unplug") {
    throw new Problem("--from HOST goes with unplug.", { exitCode: 2 });
  }
  if (values.within !== undefined && command !== "decommission") {
    throw new Problem("--within S goes with decommission.", { exitCode: 2 });
  }
  if ((values.as !== undefined || values["ticket-lifetime"] !== undefined) && command !== "env") {
    throw new Problem("--as USER and --ticket-lifetime S go with env.", { exitCode: 2 });
  }
  if (values["ticket-lifetime"] !== undefined && values.as === undefined) {
    throw new Problem("--ticket-lifetime S goes with --as USER.", { exitCode: 2 });
  }
  return {
    command,
    daemon,
    from: values.from,
    login: loginOf(values),
    withinS: wholeNumber("within", values.within ?? "60", 1, 86_400),
    name,
    help,
    json: values.json === true,
    deleteState: values.delete === true,
    settings: settingsOf(values),
  };
}

/** @param {string[]} args */
function parse(args) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        name: { type: "string" },
        json: { type: "boolean" },
        delete: { type: "boolean" },
        "nm-heartbeat-ms": { type: "string" },
        nodes: { type: "string" },
        ha: { type: "boolean" },
        secure: { type: "boolean" },
        protection: { type: "string" },
        "token-lifetime": { type: "string" },
        as: { type: "string" },
        "ticket-lifetime": { type: "string" },
        httpfs: { type: "boolean" },
        router: { type: "boolean" },
        timeline: { type: "boolean" },
        label: { type: "string" },
        calculator: { type: "string" },
        scheduler: { type: "string" },
        scheduling: { type: "string" },
        release: { type: "string" },
        preemption: { type: "boolean" },
        isolate: { type: "string" },
        "small-disk": { type: "string" },
        compiler: { type: "string" },
        set: { type: "string", multiple: true },
        from: { type: "string" },
        within: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (cause) {
    throw new Problem(`${wordsOf(cause)}\n\n${USAGE}`, { exitCode: 2, cause });
  }
}

/**
 * @typedef {NonNullable<Awaited<ReturnType<typeof clusterStatus>>>} ClusterStatus
 * @typedef {ReturnType<typeof parse>["values"]} Options
 * @typedef {{ user: string, lifetimeS: number | undefined }} Login
 */

/** The user whose ticket `env` takes; undefined: none. @param {Options} options @returns {Login | undefined} */
function loginOf({ as: user, "ticket-lifetime": lifetime }) {
  if (user === undefined) return undefined;
  const seconds = lifetime === undefined ? undefined : wholeNumber("ticket-lifetime", lifetime, 1, 86_400);
  return { user, lifetimeS: seconds };
}

/** Only the given options: an omitted option never contradicts a running cluster. @param {Options} values */
function settingsOf(values) {
  /** @type {Partial<Settings>} */
  const settings = {};
  if (values["nm-heartbeat-ms"] !== undefined)
    settings.nmHeartbeatMs = wholeNumber("nm-heartbeat-ms", values["nm-heartbeat-ms"], 50, 60_000);
  if (values.nodes !== undefined) settings.nodes = wholeNumber("nodes", values.nodes, 1, 16);
  const { protection, label, calculator, scheduler, scheduling, release, compiler } = values;
  if (protection !== undefined) settings.protection = oneOf("protection", protection, CHOICES.protection);
  if (label !== undefined) settings.label = oneOf("label", label, CHOICES.label);
  if (calculator !== undefined) settings.calculator = oneOf("calculator", calculator, CHOICES.calculator);
  if (scheduler !== undefined) settings.scheduler = oneOf("scheduler", scheduler, CHOICES.scheduler);
  if (scheduling !== undefined) settings.scheduling = oneOf("scheduling", scheduling, CHOICES.scheduling);
  if (release !== undefined) settings.release = oneOf("release", release, CHOICES.release);
  if (compiler !== undefined) settings.compiler = oneOf("compiler", compiler, CHOICES.compiler);
  for (const option of SWITCHES) if (values[option] === true) settings[option] = true;
  if (values["token-lifetime"] !== undefined)
    settings.tokenLifetimeS = wholeNumber("token-lifetime", values["token-lifetime"], 10, 604_800);
  for (const option of OF_SECURE_CLUSTERS) {
    if (values[option] !== undefined && values.secure !== true) {
      throw new Problem(`--${option} goes with --secure.`, { exitCode: 2 });
    }
  }
  if (values.isolate !== undefined) settings.isolate = wholeNumber("isolate", values.isolate, 1, 16);
  if (values["small-disk"] !== undefined) settings.smallDisk = wholeNumber("small-disk", values["small-disk"], 1, 16);
  if (values.set !== undefined) {
    settings.properties = Object.fromEntries(
      values.set.map((pair) => {
        const at = pair.indexOf("=");
        if (at < 1) throw new Problem(`--set ${pair}: must be KEY=VALUE`, { exitCode: 2 });
        return [pair.slice(0, at), pair.slice(at + 1)];
      }),
    );
  }
  return settings;
}

/**
 * @template {string} Word
 * @param {string} option @param {string} text @param {readonly Word[]} choices
 */
function oneOf(option, text, choices) {
  const chosen = choices.find((choice) => choice === text);
  if (chosen !== undefined) return chosen;
  const words = `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
  throw new Problem(`--${option} ${text}: must be ${words}`, { exitCode: 2 });
}

/** @param {string} option @param {string} text @param {number} least @param {number} most */
function wholeNumber(option, text, least, most) {
  const number = Number(text);
  if (Number.isInteger(number) && number >= least && number <= most) return number;
  throw new Problem(`--${option} ${text}: must be a whole number from ${least} to ${most}`, { exitCode: 2 });
}

/**
 * For callers that want one process to represent the cluster: a terminal, a container, a service manager. @param {string} name @param
 * {Partial<Settings>} settings
 */
async function runUntilSignal(name, settings) {
  const signalled = new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, resolve);
  });
  try {
    await up(name, settings, progressTo(process.stderr));
    // A pending promise keeps no process alive.
    const keepAlive = setInterval(() => {}, 60_000);
    await signalled;
    clearInterval(keepAlive);
  } finally {
    await reportDown(name, false);
  }
}

/** @param {string} name @param {boolean} deleteState */
async function reportDown(name, deleteState) {
  const ended = await down(name, { deleteState });
  if (ended === undefined) {
    console.error(`There is no cluster ${name} at ${stateFolder(name)}.`);
    return;
  }
  const { daemons, applications, leftovers } = ended;
  const more = [
    ...(applications > 0 ? [`${applications} running applications killed`] : []),
    ...(leftovers > 0 ? [`${leftovers} leftover processes killed`] : []),
  ];
  console.error([`✓ cluster ${name} is down: ${daemons} daemons stopped`, ...more].join(", "));
}

/** @param {string} name @param {boolean} json */
async function printStatus(name, json) {
  const status = await existing(name, clusterStatus);
  if (json) {
    console.log(JSON.stringify(status, null, 2));
  } else {
    console.log(`cluster ${name} · Hadoop ${status.settings.release} · ${status.state}`);
    const width = Math.max(...status.daemons.map(({ title }) => title.length));
    for (const daemon of status.daemons) console.log(`  ${daemon.title.padEnd(width)}  ${lifeOf(daemon)}`);
  }
  return status.up ? 0 : 1;
}

/** @param {ClusterStatus["daemons"][number]} daemon */
function lifeOf({ pid, rssMiB, user, url = "", haState }) {
  if (pid === undefined) return "down";
  return `pid ${String(pid).padEnd(8)} ${String(rssMiB).padStart(4)} MiB  as ${user.padEnd(5)} ${url}  ${haState ?? ""}`.trimEnd();
}

/** @param {string} name @param {boolean} json @param {Login | undefined} login */
async function printEnvironment(name, json, login) {
  const cluster = await existing(name, clusterStatus);
  if (!cluster.up) throw new Problem(`Cluster ${name} is not up: npm run cluster -- up --name ${name}`);
  const variables = { HADOOP_CONF_DIR: cluster.confDir, ...(await kerberosVariables(cluster, login)) };
  if (json) {
    console.log(JSON.stringify({ ...variables, PATH: `${cluster.bin}:${process.env.PATH ?? ""}` }));
    return;
  }
  for (const [variable, value] of Object.entries(variables)) console.log(`export ${variable}=${quote(value)}`);
  console.log(`export PATH=${quote(cluster.bin)}:"$PATH"`);
}

/**
 * The variables of the cluster's realm, and of a ticket where a user should be logged in.
 * @param {ClusterStatus} cluster @param {Login | undefined} login @returns {Promise<Record<string, string>>}
 */
async function kerberosVariables(cluster, login) {
  if (cluster.security === undefined) {
    if (login === undefined) return {};
    throw new Problem(`Cluster ${cluster.name} is not secure: HADOOP_USER_NAME says who you are.`, { exitCode: 2 });
  }
  const realm = { KRB5_CONFIG: cluster.security.krb5Conf };
  if (login === undefined) return realm;
  return { ...realm, KRB5CCNAME: await takeTicket(cluster, login.user, { lifetimeS: login.lifetimeS }) };
}

/**
 * @param {string} name @param {string} command @param {string} daemonName
 * @param {{ from: string | undefined, withinS: number }} options
 */
async function controlDaemon(name, command, daemonName, { from, withinS }) {
  const cluster = await existing(name, (wanted) => readRecord(stateFolder(wanted)));
  const daemon = daemonsOf(cluster).find((candidate) => candidate.name === daemonName);
  if (daemon === undefined) {
    const names = daemonsOf(cluster).map((candidate) => candidate.name);
    throw new Problem(`No daemon ${daemonName}: there are ${names.join(", ")}`, { exitCode: 2 });
  }
  if (command === "unplug" || command === "plug") {
    if (daemon.namespace === undefined) throw new Problem(`${daemon.title} is not isolated: up --isolate N`);
    if (command === "plug") await plug(cluster);
    else if (from !== undefined) await unplugFrom(cluster, from);
    else await unplug(cluster);
  } else if (command === "decommission" || command === "recommission") {
    if (daemon.kind !== "NodeManager") throw new Problem(`${daemon.title} is not a NodeManager.`, { exitCode: 2 });
    if (command === "decommission") await decommission(cluster, daemon, withinS);
    else await recommission(cluster, daemon);
  } else if (command === "start") {
    if ((await runningPid(cluster, daemon)) === undefined) await startDaemon(cluster, daemon);
  } else {
    const signal = SIGNALS[command];
    if (signal === undefined || !(await signalDaemon(cluster, daemon, signal))) {
      throw new Problem(`${daemon.title} of cluster ${name} is not running.`);
    }
    if (command === "kill" || command === "term") await endDaemon(cluster, daemon);
  }
}

/** @template Cluster @param {string} name @param {(name: string) => Promise<Cluster | undefined>} read @returns {Promise<Cluster>} */
async function existing(name, read) {
  const cluster = await read(name);
  if (cluster === undefined) throw new Problem(`There is no cluster ${name} yet: npm run cluster -- up --name ${name}`);
  return cluster;
}

/** A word as POSIX shells read it back. @param {string} text */
function quote(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

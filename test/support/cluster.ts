import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { CALLED } from "../../scripts/cluster/secure/names.mjs";
import { principalIn } from "../../scripts/cluster/secure/realm.mjs";

const run = promisify(execFile);
const CHECKOUT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** One daemon as `cluster status --json` prints it; `pid` is absent while it does not run. */
export interface ClusterDaemon {
  readonly name: string;
  readonly title: string;
  readonly host: string;
  readonly ports: readonly number[];
  /** Its web address, where it has one. */
  readonly url?: string;
  readonly user: string;
  readonly pid?: number;
  /** The state of a NameNode or ResourceManager with `--ha`; absent while it is neither. */
  readonly haState?: "active" | "standby";
  readonly log: string;
}

/** A NodeManager: its id in YARN, its web address, and its folder with `local/` and `logs/`. */
export interface ClusterNode {
  readonly name: string;
  readonly nodeId: string;
  readonly http: string;
  readonly folder: string;
}

/** What `node scripts/cluster.mjs status --json` prints: the whole contract between the tool and the tests. */
export interface ClusterStatus {
  readonly name: string;
  readonly up: boolean;
  readonly state: string;
  /** The value of HADOOP_CONF_DIR. */
  readonly confDir: string;
  /** The folder of `tony-ts`, which runs this checkout's bundle. */
  readonly bin: string;
  readonly logs: string;
  readonly jars: string;
  readonly javaHome: string;
  /** `secondMaster`: only with `--ha`. */
  readonly addresses: { readonly master: string; readonly secondMaster?: string; readonly nodes: readonly string[] };
  readonly users: { readonly hdfs: { readonly name: string }; readonly yarn: { readonly name: string } };
  readonly settings: {
    readonly release: string;
    readonly calculator: "dominant" | "default";
    readonly scheduler: "capacity" | "fair";
    readonly nmHeartbeatMs: number;
    readonly nodes: number;
    readonly ha: boolean;
    readonly secure: boolean;
    readonly timeline: boolean;
    /** The protection of RPC and of HDFS's data, where the cluster is secure. */
    readonly protection: "privacy" | "integrity" | "authentication";
    readonly label: string;
    /** Which node, from 1, has a network of its own; 0: none. */
    readonly isolate: number;
    /** Which node, from 1, has a small disk of its own for its containers' files; 0: none. */
    readonly smallDisk: number;
    readonly compiler: "quick" | "full";
  };
  /** With `--ha`: the addresses of the masters that were active when this was asked. */
  readonly endpoints: {
    readonly hdfs: string;
    /** `http://host:port/webhdfs/v1` */
    readonly webHdfs: string;
    /** `http://host:port`, with `--httpfs` */
    readonly httpFs?: string;
    /** `http://host:port`, with `--router`; its RPC is on port 8888 of that host. */
    readonly router?: string;
    /** `http://host:port`, for REST and the proxy */
    readonly resourceManager: string;
    readonly resourceManagerRpc: string;
    readonly schedulerRpc: string;
  };
  /** Paths, with `--secure`. Alice's keytab is `keytabs`/alice.keytab. */
  readonly security?: {
    readonly krb5Conf: string;
    readonly keytabs: string;
    readonly certificateAuthority: string;
    /** The PKCS12 file from which all web servers take their certificate and its key. */
    readonly keyStore: { readonly file: string; readonly password: string };
  };
  readonly nodes: readonly ClusterNode[];
  readonly daemons: readonly ClusterDaemon[];
  /** The containers' processes that are alive now. */
  readonly containerProcesses: readonly { readonly pid: number; readonly command: string }[];
}

/** The users of the test cluster who submit jobs, and what is special about each one's home in HDFS. */
export const ClusterUser = {
  /** Her home is /user/alice, mode 700. */
  alice: "alice",
  /** His home is /user/bob, mode 755: NodeManagers may share the files in it. */
  bob: "bob",
  /** Sees what is shared with her. Her home is /user/carol, mode 700. */
  carol: "carol",
  /** Has no home, and may not create one. */
  homeless: "nohome",
} as const;

/** Runs `scripts/cluster.mjs`. Rejects with its output when it fails. */
export async function clusterTool(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return await run(process.execPath, [join(CHECKOUT, "scripts", "cluster.mjs"), ...args], {
    env: { ...process.env, ...environment },
    maxBuffer: 16 << 20,
  });
}

/** The present status of the cluster of that name. */
export async function clusterStatus(
  name: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<ClusterStatus> {
  // Exit code 1 means that a daemon is down, which is an answer too.
  const { stdout } = await clusterTool(["status", "--json", "--name", name], environment).catch((error: unknown) => {
    if (isFailedRun(error) && error.stdout !== "") return error;
    throw error;
  });
  return JSON.parse(stdout);
}

function isFailedRun(error: unknown): error is { stdout: string } {
  return typeof error === "object" && error !== null && "stdout" in error && typeof error.stdout === "string";
}

/**
 * The cluster that this run of the tests uses: the one named by TONY_TEST_CLUSTER. Jest's global set-up (cluster-setup.mjs) starts it,
 * and sets that variable where the caller has not.
 */
export async function testCluster(): Promise<ClusterStatus> {
  const name = process.env.TONY_TEST_CLUSTER;
  if (name === undefined) throw new Error("TONY_TEST_CLUSTER is not set: run this file in Jest's project `cluster`");
  const status = await clusterStatus(name);
  if (!status.up) throw new Error(`a daemon of cluster ${name} is down: ${JSON.stringify(status.daemons, null, 2)}`);
  if (status.security !== undefined) await takeTickets(status.security);
  return status;
}

/**
 * Sends a signal to a daemon, starts it again or cuts its network, as the fault tests need. `kill` and `term` resolve when the daemon has
 * ended.
 */
export async function controlDaemon(
  cluster: ClusterStatus,
  action: "kill" | "term" | "stop" | "cont" | "start" | "unplug" | "plug" | "decommission" | "recommission",
  daemon: string,
  options: readonly string[] = [],
): Promise<void> {
  await clusterTool([action, daemon, ...options, "--name", cluster.name]);
}

/** The options that Java needs to log in on a secure cluster; KRB5CCNAME names the ticket that it uses. */
export function javaSecurity({ security }: ClusterStatus): readonly string[] {
  if (security === undefined) return [];
  // Hadoop before 3.3 asks Java's internal classes for the realm.
  const exports = "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED";
  return [`-Djava.security.krb5.conf=${security.krb5Conf}`, exports];
}

/** The environment of a program that uses the cluster as that user: by his name alone, or on a secure cluster by his ticket. */
export function environmentFor(cluster: ClusterStatus, user: string): Record<string, string> {
  const PATH = `${cluster.bin}:${process.env.PATH ?? ""}`;
  const HADOOP_CONF_DIR = cluster.confDir;
  if (cluster.security === undefined) return { HADOOP_CONF_DIR, HADOOP_USER_NAME: user, PATH };
  const { krb5Conf } = cluster.security;
  return { HADOOP_CONF_DIR, KRB5_CONFIG: krb5Conf, KRB5CCNAME: ticketOf(user), PATH };
}

/** The file in which this run of the tests keeps a user's ticket. */
const ticketOf = (user: string): string => `FILE:${join(tmpdir(), `tony-ticket-${process.pid}-${user}`)}`;

/** Fetches fresh tickets for all users who submit and for HDFS's administrator, as far as they have keytabs. */
export async function takeTickets({ krb5Conf, keytabs }: NonNullable<ClusterStatus["security"]>): Promise<void> {
  const env = { ...process.env, KRB5_CONFIG: krb5Conf };
  const keytabOf = (user: string) => join(keytabs, `${user}.keytab`);
  const users = [...Object.values(ClusterUser), ...Object.keys(CALLED), "hdfs"].filter((user) =>
    existsSync(keytabOf(user)),
  );
  await Promise.all(
    users.map((user) => run("kinit", ["-k", "-t", keytabOf(user), "-c", ticketOf(user), principalIn(user)], { env })),
  );
}

import { execFile } from "node:child_process";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

type Environment = Readonly<Record<string, string | undefined>>;

/** A shell script; TonY waits for it as well, and starts a JVM in it. */
const CLASSPATH_LIMIT_MS = 10_000;
/** Where a JDK, and where an older JRE, keep libjvm.so. */
const JVM_FOLDERS = ["lib/server", "jre/lib/amd64/server"];

export interface HadoopProgram {
  /** The job's user. */
  readonly user: string;
  /** The container's memory limit; undefined where it is not enforced. */
  readonly memoryLimitBytes?: number | undefined;
}

/**
 * What a program needs to open HDFS with Hadoop's own client: `HADOOP_USER_NAME`, because on an open cluster the user is otherwise whoever the
 * container runs as, often `yarn` for everybody (UserGroupInformation; with Kerberos it is not read). For libhdfs, where the node has a Hadoop
 * client: `CLASSPATH`, in which the JVM that libhdfs creates expands no wildcards (hadoop-hdfs-native-client, "C API libhdfs"), `LIBHDFS_OPTS`,
 * `ARROW_LIBHDFS_DIR` (pyarrow) and `LD_LIBRARY_PATH`. Variables that the environment already has stay. With `SKIP_HADOOP_PATH`, as in TonY,
 * nothing for libhdfs is added.
 */
export async function hadoopClientVariables(
  environment: Environment,
  program: HadoopProgram,
): Promise<Record<string, string>> {
  return {
    ...(environment.HADOOP_USER_NAME === undefined && { HADOOP_USER_NAME: program.user }),
    ...(environment.SKIP_HADOOP_PATH === undefined && (await libhdfsVariables(environment, program))),
  };
}

async function libhdfsVariables(
  environment: Environment,
  { memoryLimitBytes }: HadoopProgram,
): Promise<Record<string, string>> {
  const { HADOOP_HDFS_HOME, HADOOP_COMMON_HOME, HADOOP_HOME, HADOOP_PREFIX } = environment;
  const home = [HADOOP_HDFS_HOME, HADOOP_COMMON_HOME, HADOOP_HOME, HADOOP_PREFIX].find(hasHadoop);
  const classPath = environment.CLASSPATH ?? (home && (await classPathOf(home, environment)));
  const setsHeap = classPath && memoryLimitBytes !== undefined && environment.LIBHDFS_OPTS === undefined;
  return {
    ...(classPath && { CLASSPATH: expanded(classPath) }),
    ...(setsHeap && { LIBHDFS_OPTS: heapOption(memoryLimitBytes) }),
    ...(home && librariesOf(home, environment)),
  };
}

/** By default a JVM takes a quarter of the machine, of which the container has only a share: YARN would end it for its virtual memory. */
function heapOption(memoryLimitBytes: number): string {
  return `-Xmx${Math.floor(memoryLimitBytes / 4 / 2 ** 20)}m`;
}

function hasHadoop(home: string | undefined): home is string {
  return home !== undefined && home !== "" && existsSync(path.join(home, "bin", "hadoop"));
}

/** Undefined where the script fails: most programs do without it. */
async function classPathOf(home: string, environment: Environment): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path.join(home, "bin", "hadoop"), ["classpath"], {
      env: { ...environment },
      timeout: CLASSPATH_LIMIT_MS,
    });
    return stdout.trim();
  } catch {
    return undefined;
  }
}

/** Each `dir/*` becomes the jars of that folder. */
export function expanded(classPath: string): string {
  return classPath
    .split(":")
    .flatMap((entry) => (entry.endsWith("/*") ? jarsIn(entry.slice(0, -2)) : [entry]))
    .join(":");
}

function jarsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const jars = readdirSync(folder).filter((name) => /\.jar$/i.test(name));
  return jars.sort().map((name) => path.join(folder, name));
}

function librariesOf(home: string, environment: Environment): Record<string, string> {
  const native = nativeFolders(home).find((folder) => existsSync(path.join(folder, "libhdfs.so")));
  const java = environment.JAVA_HOME;
  const jvms = java ? JVM_FOLDERS.map((folder) => path.join(java, folder)) : [];
  const jvm = jvms.find((folder) => existsSync(path.join(folder, "libjvm.so")));
  const folders = [environment.LD_LIBRARY_PATH, jvm, native].filter(Boolean);
  return {
    ...(folders.length > 0 && { LD_LIBRARY_PATH: folders.join(":") }),
    ...(native && environment.ARROW_LIBHDFS_DIR === undefined && { ARROW_LIBHDFS_DIR: native }),
  };
}

/**
 * Where libhdfs.so is: in Hadoop's own layout; beside the home in a parcel of Cloudera's (`lib64` of `CDH/lib/hadoop`) and in a stack of
 * Hortonworks' (`usr/lib` of `/usr/hdp/3.1.0/hadoop`, to which `/usr/hdp/current/hadoop-client` links); among the system's libraries in Bigtop's
 * packages.
 */
function nativeFolders(home: string): string[] {
  const real = realpathSync(home);
  return [
    path.join(home, "lib", "native"),
    path.join(real, "..", "..", "lib64"),
    path.join(real, "..", "usr", "lib"),
    path.join(real, "..", "..", "lib"),
  ];
}

import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

type Environment = Readonly<Record<string, string | undefined>>;

/** A script of a shell; TonY waits for it as well, and starts a JVM in it. */
const CLASSPATH_LIMIT_MS = 10_000;
/** Where a JDK, and where an older JRE, keep libjvm.so. */
const JVM_FOLDERS = ["lib/server", "jre/lib/amd64/server"];

/**
 * What a program needs to open HDFS through libhdfs, where the node has a Hadoop client: `CLASSPATH`, in which the JVM that libhdfs makes
 * expands no wildcards (hadoop-hdfs-native-client, "C API libhdfs"), `ARROW_LIBHDFS_DIR` (pyarrow) and `LD_LIBRARY_PATH`.
 * What the environment has already stays. With `SKIP_HADOOP_PATH`, as in TonY, nothing is added.
 */
export async function hadoopClientVariables(environment: Environment): Promise<Record<string, string>> {
  if (environment.SKIP_HADOOP_PATH !== undefined) return {};
  const home = [environment.HADOOP_HDFS_HOME, environment.HADOOP_COMMON_HOME, environment.HADOOP_HOME].find(hasHadoop);
  const classPath = environment.CLASSPATH ?? (home && (await classPathOf(home, environment)));
  return {
    ...(classPath && { CLASSPATH: expanded(classPath) }),
    ...(home && librariesOf(home, environment)),
  };
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
  const native = path.join(home, "lib", "native");
  const hasLibhdfs = existsSync(path.join(native, "libhdfs.so"));
  const jvms = JVM_FOLDERS.map((folder) => path.join(environment.JAVA_HOME ?? "", folder));
  const jvm = jvms.find((folder) => existsSync(path.join(folder, "libjvm.so")));
  const folders = [environment.LD_LIBRARY_PATH, jvm, hasLibhdfs ? native : undefined].filter(Boolean);
  return {
    ...(folders.length > 0 && { LD_LIBRARY_PATH: folders.join(":") }),
    ...(hasLibhdfs && environment.ARROW_LIBHDFS_DIR === undefined && { ARROW_LIBHDFS_DIR: native }),
  };
}

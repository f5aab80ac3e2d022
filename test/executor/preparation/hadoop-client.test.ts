import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "@jest/globals";
import { expanded, hadoopClientVariables } from "../../../executor/preparation/hadoop-client.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();

function file(name: string, content = ""): string {
  const target = path.join(folder.path, name);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, content);
  return target;
}

/** A Hadoop client whose `hadoop classpath` prints its conf folder and one with a wildcard, and the libraries of a JDK. */
function hadoop(): { readonly HADOOP_HDFS_HOME: string; readonly JAVA_HOME: string } {
  chmodSync(
    file("hadoop/bin/hadoop", `#!/bin/sh\n[ "$1" = classpath ] && echo "${folder.path}/conf:${folder.path}/jars/*"\n`),
    0o755,
  );
  file("jars/b.jar");
  file("jars/a.jar");
  file("jars/readme.txt");
  file("hadoop/lib/native/libhdfs.so");
  file("jdk/lib/server/libjvm.so");
  return { HADOOP_HDFS_HOME: path.join(folder.path, "hadoop"), JAVA_HOME: path.join(folder.path, "jdk") };
}

const whose = { user: "alice", memoryLimitBytes: 2 ** 30 };

describe("what programs that open HDFS through libhdfs find", () => {
  test("the class path that the node's Hadoop prints, its jars one by one, and where its libraries are", async () => {
    expect(await hadoopClientVariables({ ...hadoop(), LD_LIBRARY_PATH: "/own" }, whose)).toEqual({
      HADOOP_USER_NAME: "alice",
      CLASSPATH: `${folder.path}/conf:${folder.path}/jars/a.jar:${folder.path}/jars/b.jar`,
      LIBHDFS_OPTS: "-Xmx256m",
      ARROW_LIBHDFS_DIR: `${folder.path}/hadoop/lib/native`,
      LD_LIBRARY_PATH: `/own:${folder.path}/jdk/lib/server:${folder.path}/hadoop/lib/native`,
    });
  });

  test.each([
    ["a parcel of Cloudera's", "CDH/lib/hadoop", "CDH/lib64"],
    ["a stack of Hortonworks'", "hdp/3.1.0/hadoop", "hdp/3.1.0/usr/lib"],
    ["Bigtop's packages", "usr/lib/hadoop", "usr/lib"],
  ])("libhdfs of %s, also where the home is a link", async (_, home, native) => {
    chmodSync(file(`${home}/bin/hadoop`, "#!/bin/sh\n"), 0o755);
    file(`${native}/libhdfs.so`);
    symlinkSync(path.join(folder.path, home), path.join(folder.path, "current"));
    for (const HADOOP_COMMON_HOME of [path.join(folder.path, home), path.join(folder.path, "current")]) {
      const { ARROW_LIBHDFS_DIR, LD_LIBRARY_PATH } = await hadoopClientVariables({ HADOOP_COMMON_HOME }, whose);
      expect([ARROW_LIBHDFS_DIR, LD_LIBRARY_PATH]).toEqual([
        path.join(folder.path, native),
        path.join(folder.path, native),
      ]);
    }
  });

  test("the first Hadoop of those that the node names, asked in the program's own environment", async () => {
    for (const name of ["first", "second", "third", "fourth"])
      chmodSync(file(`${name}/bin/hadoop`, `#!/bin/sh\necho "${name} of $MINE"\n`), 0o755);
    const at = (name: string) => path.join(folder.path, name);
    const named = {
      ...{ HADOOP_PREFIX: at("fourth"), HADOOP_HOME: at("third"), HADOOP_COMMON_HOME: at("second") },
      ...{ HADOOP_HDFS_HOME: at("first"), MINE: "alice" },
    };
    const classPaths: (string | undefined)[] = [];
    for (const without of [{}, { HADOOP_HDFS_HOME: "" }, { HADOOP_COMMON_HOME: "" }, { HADOOP_HOME: "/nowhere" }]) {
      Object.assign(named, without);
      classPaths.push((await hadoopClientVariables(named, whose)).CLASSPATH);
    }
    expect(classPaths).toEqual(["first of alice", "second of alice", "third of alice", "fourth of alice"]);
  });

  test("its libraries alone where its script fails; an older Java's; and what the job has set stays", async () => {
    chmodSync(file("hadoop/bin/hadoop", "#!/bin/sh\nexit 1\n"), 0o755);
    file("hadoop/lib/native/libhdfs.so");
    file("jre/jre/lib/amd64/server/libjvm.so");
    const home = { HADOOP_HOME: path.join(folder.path, "hadoop"), JAVA_HOME: path.join(folder.path, "jre") };
    expect(await hadoopClientVariables({ ...home, ARROW_LIBHDFS_DIR: "/own" }, whose)).toEqual({
      HADOOP_USER_NAME: "alice",
      LD_LIBRARY_PATH: `${folder.path}/jre/jre/lib/amd64/server:${folder.path}/hadoop/lib/native`,
    });
  });

  test("the job's class path also on a node without Hadoop", async () => {
    expect(await hadoopClientVariables({ CLASSPATH: "/etc/conf" }, whose)).toEqual({
      ...{ HADOOP_USER_NAME: "alice", CLASSPATH: "/etc/conf", LIBHDFS_OPTS: "-Xmx256m" },
    });
  });

  test("the job's own class path before that, expanded in the same way", async () => {
    const environment = { ...hadoop(), CLASSPATH: `/etc/conf:${folder.path}/jars/*` };
    const { CLASSPATH } = await hadoopClientVariables(environment, whose);
    expect(CLASSPATH).toBe(`/etc/conf:${folder.path}/jars/a.jar:${folder.path}/jars/b.jar`);
  });

  test("a heap of a quarter of the container, where its memory is known and the job says nothing of its own", async () => {
    const optionsOf = async (environment: Readonly<Record<string, string>>, memoryLimitBytes?: number) => {
      const { LIBHDFS_OPTS } = await hadoopClientVariables(
        { ...hadoop(), ...environment },
        { user: "alice", memoryLimitBytes },
      );
      return LIBHDFS_OPTS;
    };
    expect(await optionsOf({}, 8 * 2 ** 30)).toBe("-Xmx2048m");
    expect(await optionsOf({}, 1_006_213_529)).toBe("-Xmx239m");
    expect(await optionsOf({})).toBeUndefined();
    expect(await optionsOf({ LIBHDFS_OPTS: "-Xmx1g" }, 2 ** 30)).toBeUndefined();
  });

  test("whose the job is, unless the job names another", async () => {
    const { HADOOP_USER_NAME } = await hadoopClientVariables({ HADOOP_USER_NAME: "etl" }, whose);
    expect(HADOOP_USER_NAME).toBeUndefined();
  });

  test("no folders of libraries where the node's Hadoop and Java bring none", async () => {
    chmodSync(file("hadoop/bin/hadoop", "#!/bin/sh\n"), 0o755);
    const home = path.join(folder.path, "hadoop");
    const found = await hadoopClientVariables({ HADOOP_HOME: home, JAVA_HOME: "/nowhere" }, whose);
    expect(found).toEqual({ HADOOP_USER_NAME: "alice" });
  });

  test("no library of a Java that the node does not name", async () => {
    const { JAVA_HOME: _java, ...environment } = hadoop();
    const away = process.cwd();
    try {
      process.chdir(path.join(folder.path, "jdk"));
      expect(await hadoopClientVariables(environment, whose)).toMatchObject({
        LD_LIBRARY_PATH: `${folder.path}/hadoop/lib/native`,
      });
    } finally {
      process.chdir(away);
    }
  });

  test("nothing of Hadoop's on a node without it, and nothing where the job says so", async () => {
    const whoAlone = { HADOOP_USER_NAME: "alice" };
    expect(await hadoopClientVariables({ PATH: "/bin", HADOOP_HOME: "/nowhere" }, whose)).toEqual(whoAlone);
    expect(await hadoopClientVariables({ ...hadoop(), SKIP_HADOOP_PATH: "true" }, whose)).toEqual(whoAlone);
  });

  test("a folder that is not there has no jars", () => {
    expect(expanded("/nowhere/*:/etc/conf")).toBe("/etc/conf");
  });
});

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { expanded, hadoopClientVariables } from "../../executor/hadoop-client.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tony-hadoop-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function file(name: string, content = ""): string {
  const target = path.join(folder, name);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, content);
  return target;
}

/** A Hadoop client whose `hadoop classpath` prints its conf folder and one with a wildcard, and the libraries of a JDK. */
function hadoop(): { readonly HADOOP_HDFS_HOME: string; readonly JAVA_HOME: string } {
  chmodSync(
    file("hadoop/bin/hadoop", `#!/bin/sh\n[ "$1" = classpath ] && echo "${folder}/conf:${folder}/jars/*"\n`),
    0o755,
  );
  file("jars/b.jar");
  file("jars/a.jar");
  file("jars/readme.txt");
  file("hadoop/lib/native/libhdfs.so");
  file("jdk/lib/server/libjvm.so");
  return { HADOOP_HDFS_HOME: path.join(folder, "hadoop"), JAVA_HOME: path.join(folder, "jdk") };
}

describe("what programs that open HDFS through libhdfs find", () => {
  test("the class path that the node's Hadoop prints, its jars one by one, and where its libraries are", async () => {
    expect(await hadoopClientVariables({ ...hadoop(), LD_LIBRARY_PATH: "/own" })).toEqual({
      CLASSPATH: `${folder}/conf:${folder}/jars/a.jar:${folder}/jars/b.jar`,
      ARROW_LIBHDFS_DIR: `${folder}/hadoop/lib/native`,
      LD_LIBRARY_PATH: `/own:${folder}/jdk/lib/server:${folder}/hadoop/lib/native`,
    });
  });

  test("the job's own class path before that, expanded in the same way", async () => {
    const { CLASSPATH } = await hadoopClientVariables({ ...hadoop(), CLASSPATH: `/etc/conf:${folder}/jars/*` });
    expect(CLASSPATH).toBe(`/etc/conf:${folder}/jars/a.jar:${folder}/jars/b.jar`);
  });

  test("nothing on a node without Hadoop, and nothing where the job says so", async () => {
    expect(await hadoopClientVariables({ PATH: "/bin", HADOOP_HOME: "/nowhere" })).toEqual({});
    expect(await hadoopClientVariables({ ...hadoop(), SKIP_HADOOP_PATH: "true" })).toEqual({});
  });

  test("a folder that is not there has no jars", () => {
    expect(expanded("/nowhere/*:/etc/conf")).toBe("/etc/conf");
  });
});

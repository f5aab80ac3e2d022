import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { Person } from "../support/person.ts";
import { libhdfs, pythonEnvironment } from "../support/provide.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();

/** Each writes a file, and the first reads all of them; alice's home lets nobody else in. */
const program = `
import os, time
from pyarrow import fs

hdfs = fs.HadoopFileSystem("default")
folder, own, count = "/user/alice/libhdfs", os.environ["TASK_INDEX"], int(os.environ["TASK_NUM"])
hdfs.create_dir(folder)
with hdfs.open_output_stream(f"{folder}/.part-{own}") as part:
    part.write(f"written by {own}".encode())
hdfs.move(f"{folder}/.part-{own}", f"{folder}/part-{own}")
names = [f"{folder}/part-{index}" for index in range(count)]
while any(info.type == fs.FileType.NotFound for info in hdfs.get_file_info(names)):
    time.sleep(0.2)
for name in names:
    with hdfs.open_input_stream(name) as part:
        print("read:", part.read().decode())
`;

describe("a program that opens HDFS by libhdfs, where the node has a Hadoop client", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  /** @returns the home of a Hadoop client as a distribution has it */
  async function hadoopClient(python: string): Promise<string> {
    const home = alice.shared("hadoop");
    const [native, bin] = [path.join(home, "lib", "native"), path.join(home, "bin")];
    for (const folder of [native, bin]) mkdirSync(folder, { recursive: true });
    copyFileSync(await libhdfs(python), path.join(native, "libhdfs.so"));
    writeFileSync(
      path.join(bin, "hadoop"),
      `#!/bin/sh\n[ "$1" = classpath ] && echo "${cluster.confDir}:${cluster.jars}/*"\n`,
    );
    chmodSync(path.join(bin, "hadoop"), 0o755);
    return home;
  }

  test("reads and writes as the one whose the job is, and sets nothing for it", async () => {
    const python = await pythonEnvironment("hdfs");
    const job = alice.job(
      "libhdfs",
      {
        "tony.application.framework": "generic",
        "tony.worker.instances": 2,
        // A JVM reserves some GiB of addresses, which YARN counts.
        "tony.worker.memory": "3g",
        "tony.worker.command": `${python} program.py`,
        "tony.containers.resources": "program.py",
        // NodeManagers of a distribution hand it on from their own environment (yarn.nodemanager.env-whitelist).
        "tony.containers.envs": `HADOOP_HOME=${await hadoopClient(python)}`,
      },
      { "program.py": program },
    );
    const { exitCode, stdout } = await alice.run("submit", "--conf", job, "--logs", "all");
    const read = stdout.split("\n").filter((line) => line.includes("| read: "));
    expect({ exitCode, read: read.sort() }).toEqual({
      exitCode: 0,
      read: ["worker:0", "worker:1"].flatMap((task) => [0, 1].map((index) => `${task} | read: written by ${index}`)),
    });
  }, 600_000);
});

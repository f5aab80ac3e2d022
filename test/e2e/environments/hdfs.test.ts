import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { testCluster } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { at, requestJson } from "../../support/http-json.ts";
import { Person } from "../../support/person.ts";
import { libhdfs, pythonEnvironment } from "../../support/provide.ts";
import { sweep } from "../../support/sweep.ts";

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

/** Keeps its events where TensorBoard looks for them, and runs on. */
const training = `
import glob, time
from pyarrow import fs
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

writer = EventFileWriter("events")
for step in range(3):
    loss = Summary.Value(tag="loss", simple_value=1 / (step + 1))
    writer.add_event(Event(wall_time=time.time(), step=step, summary=Summary(value=[loss])))
writer.close()
hdfs = fs.HadoopFileSystem("default")
hdfs.create_dir("/user/alice/libhdfs-logs/run1")
with open(glob.glob("events/*")[0], "rb") as events, hdfs.open_output_stream("/user/alice/libhdfs-logs/run1/events.out.tfevents.1.a") as kept:
    kept.write(events.read())
time.sleep(600)
`;

describe("a program that opens HDFS by libhdfs, where the node has a Hadoop client", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  let python: string;
  /** The home of a Hadoop client, as a distribution has it. */
  let home: string;

  beforeAll(async () => {
    python = await pythonEnvironment("hdfs");
    home = alice.shared("hadoop");
    const [native, bin] = [path.join(home, "lib", "native"), path.join(home, "bin")];
    for (const folder of [native, bin]) mkdirSync(folder, { recursive: true });
    copyFileSync(await libhdfs(python), path.join(native, "libhdfs.so"));
    const classPath = `${cluster.confDir}:${cluster.jars}/*`;
    writeFileSync(path.join(bin, "hadoop"), `#!/bin/sh\n[ "$1" = classpath ] && echo "${classPath}"\n`);
    chmodSync(path.join(bin, "hadoop"), 0o755);
  }, 600_000);

  const settings = () => ({
    "tony.application.framework": "generic",
    "tony.python-exec-path": python,
    // A JVM reserves some GiB of addresses, which YARN counts.
    "tony.worker.memory": "3g",
    "tony.worker.command": `${python} program.py`,
    "tony.containers.resources": "program.py",
    // NodeManagers of a distribution hand it on from their own environment (yarn.nodemanager.env-whitelist).
    "tony.containers.envs": `HADOOP_HOME=${home}`,
  });

  test("reads and writes as the one whose the job is, and sets nothing for it", async () => {
    const job = alice.job("libhdfs", { ...settings(), "tony.worker.instances": 2 }, { "program.py": program });
    const { exitCode, stdout } = await alice.run("submit", "--conf", job, "--logs", "all");
    const read = stdout.split("\n").filter((line) => line.includes("| read: "));
    expect({ exitCode, read: read.sort() }).toEqual({
      exitCode: 0,
      read: ["worker:0", "worker:1"].flatMap((task) => [0, 1].map((index) => `${task} | read: written by ${index}`)),
    });
  });

  test("is TensorBoard, which shows the logs that another task keeps on HDFS", async () => {
    const job = alice.job(
      "tensorboard",
      {
        ...settings(),
        "tony.worker.instances": 1,
        "tony.application.tensorboard-log-dir": "hdfs:///user/alice/libhdfs-logs",
        "tony.tensorboard.memory": "3g",
      },
      { "program.py": training },
    );
    const submit = alice.start("submit", "--conf", job);
    const [id] = await submit.output(/application_\d+_\d+/);
    await submit.output(/ TensorBoard +http/);
    const board = alice.start("tensorboard", id);
    const [, url = ""] = await board.output(/(http:\/\/127\.0\.0\.1:\d+) is forwarded to port \d+ of tensorboard:0/);
    const tags = await eventually("a run", async () => {
      const { body } = await requestJson(`${url}/data/plugin/scalars/tags`);
      return at(body, "run1", "loss") === undefined ? undefined : body;
    });
    expect(tags).toMatchObject({ run1: { loss: {} } });
    await alice.run("kill", id);
    await Promise.all([submit.ended, board.ended]);
  });
});

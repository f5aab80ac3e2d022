import { describe, expect, test } from "@jest/globals";
import { loadConfiguration } from "../../src/hadoop/conf/site-files.ts";
import { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import { simpleCredentials } from "../../src/hadoop/security/simple-credentials.ts";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { FaultSuite } from "../support/fault-suite.ts";

const cluster = await testCluster();
const user = ClusterUser.alice;

describe("a file that containers are to be given", () => {
  const suite = new FaultSuite(cluster);

  test("disappears: when a second node fails on it too, the job fails and names the file", async () => {
    const fileSystems = new FileSystems({
      configuration: loadConfiguration(cluster.confDir),
      credentials: simpleCredentials({ name: user }),
    });
    try {
      const { fileSystem, path } = await fileSystems.home();
      const file = `${path}/vocabulary.txt`;
      await fileSystem.create(file, Buffer.from("words\n"), { permission: 0o600, overwrite: true });
      const large = { "tony.worker.memory": "6g" };
      const occupant = await suite.submit({ workers: 2, settings: large });
      await occupant.running(1);
      // One node alone, which is asked again and again while the other has not failed yet, does not end it.
      const settings = { ...large, "tony.worker.resources": `hdfs://${file}`, "tony.failure.blame.job": "20" };
      const job = await suite.submit({ workers: 3, settings });
      await job.status("one of three registered", ({ roles }) => roles[0]?.registered === 1);
      await fileSystem.delete(file);
      await occupant.end();

      const { exitCode, stdout } = await job.client.ended;
      expect(stdout).toMatch(
        /^Root cause {3}worker:\d could not get its files on .*: File does not exist: hdfs:\S+vocabulary\.txt/m,
      );
      expect(stdout).toMatch(/^No restart {3}\S+ failed on the same file before: the file is at fault, not the nodes/m);
      expect(exitCode).toBe(1);
    } finally {
      fileSystems.close();
    }
  });
});

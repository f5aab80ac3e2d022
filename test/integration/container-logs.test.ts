import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { loadConfiguration } from "../../src/hadoop/conf/site-files.ts";
import { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import { simpleCredentials } from "../../src/hadoop/security/simple-credentials.ts";
import { findAggregatedLogs, logsAreAggregated, readAggregatedLogs } from "../../src/hadoop/yarn/aggregated-logs.ts";
import { ContainerLogs } from "../../src/hadoop/yarn/container-logs.ts";
import { type ClusterStatus, ClusterUser, testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { at, requestJson } from "../support/http-json.ts";
import { killApplication, submitCommand, viewApplication } from "../support/rest-application.ts";

/** 588,895 bytes, so that it spans chunks and requests. */
const numbers = Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join("");
const command = "seq 1 100000 > <LOG_DIR>/numbers; touch <LOG_DIR>/empty; echo hällo; echo oops >&2; sleep 600";

describe("the logs of a real container", () => {
  const user = ClusterUser.alice;
  let cluster: ClusterStatus;
  let application: string;
  let container: string;
  let node: string;
  const live = new ContainerLogs({ credentials: simpleCredentials({ name: user }) });
  beforeAll(async () => {
    cluster = await testCluster();
    application = await submitCommand(cluster, { user, command: `(${command}) 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr` });
    const found = await eventually("a running container", async () => {
      const url = `${cluster.endpoints.resourceManager}/ws/v1/cluster/apps/${application}/appattempts`;
      const attempt = at((await requestJson(url)).body, "appAttempts", "appAttempt", 0);
      const id = at(attempt, "containerId");
      const address = at(attempt, "nodeHttpAddress");
      if (typeof id !== "string" || typeof address !== "string" || id === "" || address === "") return undefined;
      const files = await live.list(address, id).catch(() => []);
      return files.some(({ name, lengthBytes }) => name === "stderr" && lengthBytes > 0) ? { id, address } : undefined;
    });
    container = found.id;
    node = found.address;
  });
  afterAll(async () => {
    live.close();
    await killApplication(cluster, application, user);
  });

  test("are listed and read from the node while it runs, from any offset", async () => {
    const files = await live.list(node, container);
    expect(files).toContainEqual({ name: "numbers", lengthBytes: numbers.length });
    expect((await live.read(node, container, "stdout", 0, 1000)).bytes.toString()).toBe("hällo\n");
    const piece = async (offset: number, maximumBytes: number) => {
      const read = await live.read(node, container, "numbers", offset, maximumBytes);
      expect([read.offset, read.logLengthBytes]).toEqual([offset, numbers.length]);
      return read.bytes.toString();
    };
    for (const [offset, length] of [
      [0, 10],
      [5, 10],
      [300_000, 1000],
      [580_000, 100_000],
      [numbers.length - 1, 10],
      [numbers.length, 10],
      [numbers.length + 5, 10],
    ] as const) {
      expect(await piece(offset, length)).toBe(numbers.slice(offset, offset + length));
    }
    expect((await live.read(node, container, "empty", 0, 10)).bytes).toHaveLength(0);
  });

  test("that are not there are told apart from a node that cannot be reached", async () => {
    await expect(live.read(node, container, "nothing", 0, 10)).rejects.toMatchObject({
      code: "CONTAINER_LOG_NOT_FOUND",
    });
    await expect(live.list("127.0.0.1:1", container)).rejects.toMatchObject({ code: "NODE_UNREACHABLE" });
  });

  test("are read from HDFS after its end, byte by byte the same", async () => {
    const configuration = loadConfiguration(cluster.confDir);
    const fileSystems = new FileSystems({ configuration, credentials: simpleCredentials({ name: user }) });
    expect(logsAreAggregated(configuration)).toBe(true);
    await killApplication(cluster, application, user);
    const files = await eventually("aggregated logs", async () => {
      const found = await findAggregatedLogs(fileSystems, configuration, user, application);
      return found.length > 0 ? found : undefined;
    });
    const logs = new Map<string, string>();
    for (const file of files) {
      for await (const log of readAggregatedLogs(file)) {
        expect(log.containerId).toBe(container);
        // What is not read is passed over.
        if (log.name !== "launch_container.sh") logs.set(log.name, await text(log.content));
      }
    }
    expect(logs.get("numbers") === numbers).toBe(true);
    expect([logs.get("stdout"), logs.get("stderr"), logs.get("empty")]).toEqual(["hällo\n", "oops\n", ""]);
    expect((await viewApplication(cluster, application)).state).toBe("KILLED");
    fileSystems.close();
  });
});

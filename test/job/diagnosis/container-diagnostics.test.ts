import { describe, expect, test } from "@jest/globals";
import { parseContainerDiagnostics } from "../../../src/job/diagnosis/container-diagnostics.ts";

/** As Hadoop 3.4.2 wrote them. */
const virtual = `[2026-11-22 01:11:05.719]Container [pid=14897,containerID=container_1_0017_04_000001] is running 592931232B beyond the 'VIRTUAL' memory limit. Current usage: 69.4 MB of 64 MB physical memory used; 699.9 MB of 134.4 MB virtual memory used. Killing container.
Dump of the process-tree for container_1_0017_04_000001 :
\t|- PID PPID PGRPID SESSID CMD_NAME USER_MODE_TIME(MILLIS) SYSTEM_TIME(MILLIS) VMEM_USAGE(BYTES) RSSMEM_USAGE(PAGES) FULL_CMD_LINE
\t|- 14908 14897 14897 14897 (node) 63 5 729395200 16934 ./node am.cjs

[2026-11-22 01:11:05.841]Container killed on request. Exit code is 143
[2026-11-22 01:11:05.841]Container exited with a non-zero exit code 143.
`;
const failedStart = `[2026-11-22 01:14:24.289]Exception from container-launch.
Container id: container_1_0022_01_000006
Exit code: 1

[2026-11-22 01:14:24.292]Container exited with a non-zero exit code 1. Error file: prelaunch.err.
Last 4096 bytes of prelaunch.err :
Last 4096 bytes of stderr :
line one

tony-ts: the executor could not begin


[2026-11-22 01:14:24.293]Container exited with a non-zero exit code 1. Error file: prelaunch.err.
Last 4096 bytes of prelaunch.err :
Last 4096 bytes of stderr :
line one

tony-ts: the executor could not begin


`;

describe("a container's diagnostics", () => {
  test("say which memory limit was exceeded, and by how much", () => {
    expect(parseContainerDiagnostics(virtual).memory).toEqual({
      kind: "virtual",
      used: "699.9 MB",
      usedMiB: 699.9,
      limit: "134.4 MB",
      limitMiB: 134.4,
      both: true,
    });
    expect(parseContainerDiagnostics(virtual.replace("69.4 MB of", "50 MB of")).memory).toMatchObject({ both: false });
    expect(parseContainerDiagnostics(virtual.replace("VIRTUAL", "PHYSICAL")).memory).toEqual({
      kind: "physical",
      used: "69.4 MB",
      usedMiB: 69.4,
      limit: "64 MB",
      limitMiB: 64,
      both: true,
    });
  });

  test.each([
    ["‘./venv/bin/python’", "a UTF-8 locale"],
    ["'./venv/bin/python'", "the C locale"],
  ])("name the file that the launch script may not read: %s in %s", (quoted) => {
    const errors = `find: ${quoted}: Permission denied\nfind: './venv/bin/python3': Permission denied\n`;
    const text = failedStart
      .replaceAll(/line one\n\ntony-ts: .*\n/g, "")
      .replaceAll("prelaunch.err :\n", `prelaunch.err :\n${errors}`);
    expect(parseContainerDiagnostics(text)).toMatchObject({ unreadable: "venv/bin/python", stderr: [] });
    expect(parseContainerDiagnostics(failedStart).unreadable).toBeUndefined();
  });

  test("say so in the words of Hadoop 2, too", () => {
    const text =
      "Container [pid=1,containerID=container_1_0001_01_000002] is running beyond physical memory limits. Current usage: " +
      "1.1 GB of 1 GB physical memory used; 2.7 GB of 2.1 GB virtual memory used. Killing container.\n";
    const physical = {
      kind: "physical",
      used: "1.1 GB",
      usedMiB: 1.1 * 1024,
      limit: "1 GB",
      limitMiB: 1024,
      both: true,
    };
    expect(parseContainerDiagnostics(text).memory).toEqual(physical);
    const other = text.replace("physical memory limits", "virtual memory limits");
    expect(parseContainerDiagnostics(other).memory).toMatchObject({ kind: "virtual", used: "2.7 GB", limit: "2.1 GB" });
  });

  test("give the end of stderr once, without YARN's frame", () => {
    expect(parseContainerDiagnostics(failedStart)).toEqual({
      stderr: ["line one", "", "tony-ts: the executor could not begin"],
      words: ["line one", "tony-ts: the executor could not begin", "line one", "tony-ts: the executor could not begin"],
    });
  });

  test("give that of the last task where the container has had several", () => {
    const text =
      "[2026-11-22 19:45:03.047]Container exited with a non-zero exit code 1. Error files: stderr, trainer-0.stderr.\n" +
      "Last 4096 bytes of trainer-0.stderr :\nno such file\n\n";
    expect(parseContainerDiagnostics(text)).toEqual({ stderr: ["no such file"], words: ["no such file"] });
  });

  test("that know no stderr are YARN's own words without time stamps", () => {
    const { memory, stderr, words } = parseContainerDiagnostics("[2026-11-22 01:00:00.000]File does not exist: /a\n\n");
    expect(memory).toBeUndefined();
    expect(stderr).toEqual([]);
    expect(words).toEqual(["File does not exist: /a"]);
  });

  test("name the file that could not be fetched, and none of Java's stack", () => {
    const why = "File does not exist: hdfs://nn:8020/words.txt";
    const text = `[2026-11-22 04:05:41.120]${why}\njava.io.FileNotFoundException: ${why}\n\tat org.apache.hadoop.yarn.util.FSDownload$2.run(FSDownload.java:433)\n\tat java.base/java.lang.Thread.run(Thread.java:840)\n`;
    expect(parseContainerDiagnostics(text)).toEqual({
      resource: "hdfs://nn:8020/words.txt",
      stderr: [],
      words: [why, `java.io.FileNotFoundException: ${why}`],
    });
  });

  test("lack the frame of Java's that they were cut off within", () => {
    const why = "token (token for alice: HDFS_DELEGATION_TOKEN owner=alice) can't be found in cache";
    const text = `ava:712)\n\tat org.apache.hadoop.ipc.Client.call(Client.java:1529)\n\t... 9 more\nCaused by: ${why}\n`;
    expect(parseContainerDiagnostics(text).words).toEqual([`Caused by: ${why}`]);
  });

  test.each([
    ["token (token for alice: HDFS_DELEGATION_TOKEN owner=alice) can't be found in cache", "forgotten"],
    ["token (token for alice: HDFS_DELEGATION_TOKEN owner=alice) is expired, current time: 2026", "expired"],
    ["File does not exist: hdfs://nn/a", undefined],
  ])("tell a token that HDFS takes no more: %s", (why, endedToken) => {
    expect(parseContainerDiagnostics(`[2026-11-22 04:05:41.120]${why}\n`).endedToken).toBe(endedToken);
  });

  test("may be empty", () => {
    expect(parseContainerDiagnostics("")).toEqual({ stderr: [], words: [] });
  });
});

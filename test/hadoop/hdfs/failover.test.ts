import { describe, expect, test } from "@jest/globals";
import { FileSystemError, type FileSystemErrorCode } from "../../../src/hadoop/hdfs/errors.ts";
import { Failover, lookFirst, outcomeUnknown } from "../../../src/hadoop/hdfs/failover.ts";

const failed = (code: FileSystemErrorCode) => new FileSystemError(code, { code, operation: "OPEN", path: "/f" });

function setUp(endpoints: readonly string[], rounds = 3) {
  const pauses: number[] = [];
  const failover = new Failover(endpoints, {
    policy: { rounds, firstPauseMs: 100, longestPauseMs: 300 },
    sleep: async (ms) => pauses.push(ms),
    random: () => 1,
  });
  /** Runs an operation that fails like this, one failure after the other, and then is answered. @returns who was asked */
  const ask = async (
    failures: readonly FileSystemErrorCode[],
    repeatable: "idempotent" | "look-first" = "idempotent",
  ) => {
    const left = [...failures];
    const asked: string[] = [];
    const error = await failover
      .run(repeatable, async (endpoint) => {
        asked.push(endpoint);
        const code = left.shift();
        if (code !== undefined) throw failed(code);
        return undefined;
      })
      .catch((thrown: unknown) => thrown);
    return { asked, error };
  };
  return { failover, pauses, ask };
}

describe("the servers of one file system", () => {
  test.each(["STANDBY", "NOT_READY", "UNREACHABLE", "CONNECTION_LOST", "TIMEOUT"] as const)(
    "after %s the next one is asked, and stays the first to be asked",
    async (code) => {
      const { ask } = setUp(["nn1", "nn2"]);
      expect(await ask([code])).toEqual({ asked: ["nn1", "nn2"], error: undefined });
      expect((await ask([])).asked).toEqual(["nn2"]);
    },
  );

  test("two operations that fail together turn to the next one once", async () => {
    const { failover } = setUp(["nn1", "nn2"]);
    const asked: string[] = [];
    const operation = () =>
      failover.run("idempotent", async (endpoint) => {
        asked.push(endpoint);
        await Promise.resolve();
        if (endpoint === "nn1") throw failed("STANDBY");
      });
    await Promise.all([operation(), operation()]);
    expect(asked).toEqual(["nn1", "nn1", "nn2", "nn2"]);
  });

  test("an operation that fails late does not step over the server that another one found", async () => {
    const { failover, ask } = setUp(["nn1", "nn2", "nn3"]);
    let fail = (): void => undefined;
    const late: string[] = [];
    const slow = failover.run("idempotent", async (endpoint) => {
      late.push(endpoint);
      if (late.length > 1) return;
      await new Promise<void>((resolve) => {
        fail = resolve;
      });
      throw failed("CONNECTION_LOST");
    });
    expect((await ask(["STANDBY", "STANDBY"])).asked).toEqual(["nn1", "nn2", "nn3"]);
    fail();
    await slow;
    expect(late).toEqual(["nn1", "nn3"]);
  });

  test("a DataNode that cannot be reached says nothing of the NameNode that named it", async () => {
    const { ask } = setUp(["nn1", "nn2"]);
    expect((await ask(["DATANODE_UNREACHABLE", "DATANODE_UNREACHABLE"])).asked).toEqual(["nn1", "nn1", "nn1"]);
  });

  test("what is no failure of a server is told at once, and turns to nobody", async () => {
    const { ask } = setUp(["nn1", "nn2"]);
    expect(await ask(["FILE_NOT_FOUND"])).toEqual({ asked: ["nn1"], error: failed("FILE_NOT_FOUND") });
    expect((await ask([])).asked).toEqual(["nn1"]);
  });
});

describe("how long it is tried", () => {
  test("is about four seconds where nobody says otherwise", async () => {
    const pauses: number[] = [];
    const failover = new Failover(["nn1", "nn2"], { sleep: async (ms) => pauses.push(ms), random: () => 1 });
    let tries = 0;
    const refused = async () => {
      tries += 1;
      throw failed("UNREACHABLE");
    };
    await expect(failover.run("idempotent", refused)).rejects.toMatchObject({ code: "UNREACHABLE" });
    expect(tries).toBe(10);
    expect(pauses).toEqual([250, 500, 1000, 2000]);
  });

  test("differs from one client to the next", async () => {
    const pauses: number[] = [];
    const failover = new Failover(["nn1"], { sleep: async (ms) => pauses.push(ms), random: () => 0.2 });
    await failover.run("idempotent", async () => Promise.reject(failed("STANDBY"))).catch(() => undefined);
    expect(pauses).toEqual([150, 300, 600, 1200]);
  });

  test.each(["TIMEOUT", "UNREACHABLE"])("is once where a failure is not the file system's: %s", async (code) => {
    const { failover } = setUp(["nn1", "nn2"]);
    let tries = 0;
    const stopped = Object.assign(new Error("stopped"), { code });
    const attempt = async () => {
      tries += 1;
      throw stopped;
    };
    await expect(failover.run("idempotent", attempt)).rejects.toBe(stopped);
    await expect(lookFirst(attempt, async () => "done")).rejects.toBe(stopped);
    expect(tries).toBe(2);
  });

  test("each round waits twice as long, and none between servers", async () => {
    const { ask, pauses } = setUp(["nn1", "nn2"], 4);
    const { asked, error } = await ask(Array(8).fill("STANDBY"));
    expect(asked).toHaveLength(8);
    expect(error).toEqual(failed("STANDBY"));
    expect(pauses).toEqual([100, 200, 300]);
  });

  test("servers that are silent are waited for once more than there are", async () => {
    const { ask } = setUp(["nn1", "nn2"]);
    expect((await ask(Array(6).fill("TIMEOUT"))).asked).toEqual(["nn1", "nn2", "nn1"]);
  });

  test("what may have been done is not done again, but by one that did not hear of it", async () => {
    const { ask } = setUp(["nn1", "nn2"]);
    expect((await ask(["STANDBY"], "look-first")).asked).toEqual(["nn1", "nn2"]);
    expect(await ask(["CONNECTION_LOST"], "look-first")).toEqual({ asked: ["nn2"], error: failed("CONNECTION_LOST") });
    expect(await ask(["TIMEOUT"], "look-first")).toEqual({ asked: ["nn1"], error: failed("TIMEOUT") });
  });
});

test("what must not take place twice is sent again where it has not taken place, four times in all", async () => {
  let tries = 0;
  const attempt = async () => {
    tries += 1;
    throw failed("TIMEOUT");
  };
  await expect(lookFirst(attempt, async () => undefined)).rejects.toMatchObject({ code: "TIMEOUT" });
  expect(tries).toBe(4);
  expect(await lookFirst(attempt, async () => "done")).toBe("done");
  expect(tries).toBe(5);
});

test("what failed in any other way is not looked for", async () => {
  const look = async () => "done";
  await expect(lookFirst(async () => Promise.reject(failed("ACCESS_DENIED")), look)).rejects.toMatchObject({
    code: "ACCESS_DENIED",
  });
});

test("an outcome that remains unknown is told with what was seen", () => {
  expect(outcomeUnknown({ method: "POST", operation: "APPEND", path: "/f" }, "it has 9 bytes")).toMatchObject({
    ...{ code: "OUTCOME_UNKNOWN", operation: "APPEND", path: "/f", retryable: false },
    message: "APPEND /f: the answer was lost, and it has 9 bytes: look at the file before trying again",
  });
});

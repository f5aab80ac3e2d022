import { describe, expect, test } from "@jest/globals";
import { migrateSettings } from "../../../client/migration/settings.ts";
import type { Setting } from "../../../src/job/settings.ts";

/** What becomes of a TonY job's settings: kind, new name and words of each. */
function migrated(settings: readonly (readonly [key: string, value: string])[]) {
  const given = settings.map(([key, value], index): Setting => {
    return { key, value, layer: "job", at: `job.xml:${index + 1}`, final: false };
  });
  return migrateSettings(given).map(({ key, remark: { kind, message } }) => ({ kind, key, message }));
}

describe("a setting of TonY's", () => {
  test("that works stays", () => {
    expect(migrated([["tony.worker.instances", "2"]])).toEqual([
      { kind: "stays", key: "tony.worker.instances", message: "tony.worker.instances" },
    ]);
  });

  test("of a role that the job has not stays as well, and says so; not where others ask for its roles", () => {
    expect(migrated([["tony.wroker.gpus", "1"]])[0]).toMatchObject({ kind: "stays", message: "tony.wroker.gpus" });
    const [, gpus] = migrated([
      ["tony.worker.instances", "2"],
      ["tony.wroker.gpus", "1"],
    ]);
    expect(gpus).toMatchObject({ kind: "stays", message: expect.stringContaining("did you mean tony.worker.gpus?") });
  });

  test("whose value is a flow's or a script's variable stays: only that knows it", () => {
    for (const value of ["${workers}", "$WORKERS"]) {
      expect(migrated([["tony.worker.instances", value]])).toEqual([
        {
          kind: "stays",
          key: "tony.worker.instances",
          message: `tony.worker.instances: what ${value} stands for is not known here`,
        },
      ]);
    }
  });

  test("whose value may be a variable, or an address, is nothing to remark", () => {
    for (const value of ["echo $HOME", "cat gs://bucket/a"]) {
      const [found] = migrated([["tony.worker.command", value]]);
      expect(found).toEqual({ kind: "stays", key: "tony.worker.command", message: "tony.worker.command" });
    }
  });

  test("of Hadoop stays, and one that lacks tony. is to be mended", () => {
    expect(migrated([["dfs.replication", "2"]])).toEqual([
      { kind: "stays", key: "dfs.replication", message: "dfs.replication" },
    ]);
    expect(migrated([["worker.memory", "2g"]])[0]).toMatchObject({
      kind: "to-mend",
      key: "worker.memory",
      message: expect.stringContaining("did you mean tony.worker.memory?"),
    });
  });

  test("that has no meaning is left out, and says why", () => {
    expect(migrated([["tony.task.am.jvm.opts", "-Xss1m"]])).toEqual([
      { kind: "no-meaning", key: undefined, message: "tony.task.am.jvm.opts has no effect: there is no JVM" },
    ]);
  });

  test("that nobody knows is left out, with what was probably meant", () => {
    const [found] = migrated([["tony.worker.memroy", "4g"]]);
    expect(found).toEqual({
      kind: "no-meaning",
      key: undefined,
      message: "tony.worker.memroy is not a key; did you mean tony.worker.memory? (TonY ignores it)",
    });
    expect(
      migrated([
        ["tony.worker.instances", "2"],
        ["tony.worker.memroy", "4g"],
      ])[1],
    ).toEqual(found);
  });

  test("that names a file which only Hadoop's connectors know is a person's to decide", () => {
    expect(migrated([["tony.containers.resources", "a.py,gs://bucket/env.zip#archive, s3a://b/x"]])[0]).toMatchObject({
      kind: "to-mend",
      key: "tony.containers.resources",
      message: expect.stringMatching(/gs:\/\/bucket\/env.zip#archive, s3a:\/\/b\/x can stay, if HADOOP_HOME/),
    });
  });

  test("that is near no key is left out", () => {
    expect(migrated([["tony.java.home", "/usr/java"]])[0]).toMatchObject({
      kind: "no-meaning",
      message: expect.stringContaining("neither TonY nor tony-ts has such a key"),
    });
  });

  test("by an older name gets the later one, unless that is set or has no meaning either", () => {
    const older = ["tony.task.heartbeat-interval", "2000"] as const;
    expect(migrated([older])).toEqual([
      {
        kind: "changes",
        key: "tony.task.heartbeat-interval-ms",
        message: "tony.task.heartbeat-interval is now called tony.task.heartbeat-interval-ms",
      },
    ]);
    expect(migrated([older, ["tony.task.heartbeat-interval-ms", "1000"]])[0]).toMatchObject({
      kind: "no-meaning",
      key: undefined,
    });
    expect(migrated([["tony.history.cache.max-entries", "5"]])[0]).toMatchObject({
      kind: "no-meaning",
      key: undefined,
    });
  });

  test("of a role whose name is one of TonY's own words here is kept: TonY runs such tasks", () => {
    expect(migrated([["tony.task.instances", "2"]])[0]).toMatchObject({
      kind: "to-mend",
      key: "tony.task.instances",
      message: expect.stringContaining("TonY runs such tasks: give the role another name"),
    });
    const memory = ["tony.task.memory", "2g"] as const;
    expect(migrated([memory, ["tony.task.instances", "2"]])[0]).toMatchObject({ kind: "to-mend", key: memory[0] });
    expect(migrated([memory])[0]?.message).toContain("(TonY ignores it)");
    expect(migrated([["tony.history.resources", "a.txt"]])[0]?.message).toMatch(
      /\(TonY uploads what it names, for no task\)$/,
    );
  });

  test("of the wrong type is kept: what it asks for is not lost", () => {
    expect(migrated([["tony.worker.memory", "1.5 apples"]])[0]).toMatchObject({
      kind: "to-mend",
      key: "tony.worker.memory",
      message: expect.stringContaining("tony.worker.memory must be a whole amount"),
    });
  });

  test("that a later line sets again is left out", () => {
    const [first, second] = migrated([
      ["tony.worker.memory", "2g"],
      ["tony.worker.memory", "3g"],
    ]);
    expect(first).toMatchObject({
      kind: "no-meaning",
      message: "tony.worker.memory has no effect: job.xml:2 sets it again",
    });
    expect(second).toMatchObject({ kind: "stays" });
  });

  test("that does something else here says so", () => {
    expect(migrated([["tony.worker.depends-on", "ps"]])).toEqual([
      {
        kind: "changes",
        key: "tony.worker.depends-on",
        message: "tony.worker.depends-on: TonY does not read it; here the role starts when those are done",
      },
    ]);
    expect(migrated([["tony.containers.envs", "A=$(hostname)"]])[0]).toMatchObject({ kind: "changes" });
    expect(migrated([["tony.containers.envs", "A=$HOME"]])[0]).toMatchObject({ kind: "stays" });
  });

  test("with a placeholder of TonY's defaults is left out", () => {
    for (const placeholder of ["/path/to/tony-history", "/path/to/tony-history/intermediate"])
      expect(migrated([["tony.history.location", placeholder]])[0]).toMatchObject({ kind: "no-meaning" });
    expect(migrated([["tony.history.location", "/shared/history"]])[0]).toMatchObject({ kind: "stays" });
  });

  test("of Horovod's driver is left out; in another job it is a role's", () => {
    const driver = ["tony.driver.instances", "1"] as const;
    expect(migrated([["tony.application.framework", "horovod"], driver])[1]).toMatchObject({ kind: "no-meaning" });
    expect(migrated([driver])[0]).toMatchObject({ kind: "stays" });
    const [, worker] = migrated([
      ["tony.application.framework", "horovod"],
      ["tony.worker.instances", "2"],
    ]);
    expect(worker).toMatchObject({ kind: "stays" });
  });
});

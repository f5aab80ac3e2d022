import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { describe, expect, jest, test } from "@jest/globals";
import { outputLogs } from "../../../executor/output/output-files.ts";
import { Program } from "../../../executor/program/program.ts";
import { eventually } from "../../support/eventually.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();

const reason = { code: "job-ended" } as const;

/** A process for each RANK. */
function programOf(command: string, ...others: readonly string[]): Program {
  const environment = (rank: string) => ({ PATH: process.env.PATH ?? "", MARK: folder.path, RANK: rank });
  return new Program({
    command,
    environments: [environment("0"), ...others.map(environment)],
    marker: `MARK=${folder.path}`,
    logs: outputLogs({ logFolder: folder.path, logPrefix: "" }),
    nowMs: Date.now,
  });
}

describe("a program that is being stopped", () => {
  const killedAtMs = ({ stopping }: Program) => stopping?.killedAtMs ?? 0;

  test("has the grace of the most urgent order, whichever comes first", async () => {
    const program = programOf("trap '' TERM; echo deaf >&2; while :; do sleep 0.05; done");
    await eventually("it hears no SIGTERM", () => program.lastWords().text === "deaf\n");
    const stopped = program.stop({ graceMs: 600_000, reason });
    const first = killedAtMs(program);
    void program.stop({ graceMs: 900_000, reason: { code: "unknown" } });
    expect([killedAtMs(program), program.stopReason]).toEqual([first, reason]);
    void program.stop({ graceMs: 0, reason });
    expect(killedAtMs(program)).toBeLessThanOrEqual(Date.now());
    expect(await stopped).toBe(true);
    expect(await program.ended).toMatchObject({ signal: "SIGKILL" });
  });

  test("is told by its executor, unless its process group has been told already", async () => {
    const [, ownGroup] = /\) \S+ \d+ (\d+) /.exec(readFileSync("/proc/self/stat", "latin1")) ?? [];
    const told: unknown[] = [];
    for (const groupTold of [true, false]) {
      const program = programOf("exec sleep 600");
      const end = jest.spyOn(program.tree, "end");
      await program.stop({ graceMs: 0, reason, groupTold });
      told.push(end.mock.calls[0]?.[2]);
    }
    expect(told).toEqual([Number(ownGroup), undefined]);
  });

  test("has had its last words when it was first told to stop: what it says then may be of that", async () => {
    const program = programOf("trap 'echo stopped >&2; exit 4' TERM; echo failed >&2; while :; do sleep 0.05; done");
    await eventually("it has begun", () => program.lastWords().text === "failed\n");
    expect(program.stderrAtStop).toBeUndefined();
    await program.stop({ graceMs: 60_000, reason });
    await program.stop({ graceMs: 60_000, reason });
    expect(program.stderrAtStop).toEqual({ text: "failed\n", writtenAtMs: expect.any(Number) });
    expect(program.lastWords().text).toMatch(/^failed\n.*stopped\n$/s);
  });

  test("keeps its reason and its grace where what it leaves is to be ended, too", async () => {
    const program = programOf("trap 'sleep 0.2; exit 4' TERM; while :; do sleep 0.05; done");
    await eventually("it waits", () => program.processNames().includes("sleep"));
    const stopped = program.stop({ graceMs: 60_000, reason });
    const atMs = killedAtMs(program);
    void program.clearLeftovers(0);
    expect([program.stopReason, killedAtMs(program)]).toEqual([reason, atMs]);
    expect(await stopped).toBe(true);
    expect(await program.ended).toMatchObject({ exitCode: 4 });
  });

  test("is killed where it is suspended meanwhile, and the next one in its container is left alone", async () => {
    const program = programOf("trap '' TERM; while :; do sleep 0.05; done");
    const stopped = program.stop({ graceMs: 600_000, reason });
    program.suspend();
    expect(await stopped).toBe(true);
    // A suspended one is looked at every second for what runs all the same.
    const next = programOf("for i in {1..30}; do sleep 0.05; done; exit 5");
    expect(await next.ended).toMatchObject({ exitCode: 5 });
    expect(await next.clearLeftovers(0)).toBe(true);
  });

  test("has its grace where it was suspended and is resumed by then", async () => {
    const program = programOf("trap 'sleep 0.5; exit 4' TERM; while :; do sleep 0.05; done");
    await eventually("it waits", () => program.processNames().includes("sleep"));
    program.suspend();
    program.resume();
    expect(await program.stop({ graceMs: 60_000, reason })).toBe(true);
    expect(await program.ended).toMatchObject({ exitCode: 4, signal: null });
  });

  test("ends what it left, too, where it had ended when it was asked for its stacks", async () => {
    const program = programOf("trap '' TERM; sleep 1000 & exit 3");
    await program.dumpStacks(reason);
    expect((await program.ended).exitCode).toBe(3);
    expect(await program.clearLeftovers(0)).toBe(true);
    expect(program.tree.members()).toEqual([]);
  });
});

test("a program alone writes to its output: its executor keeps no file open", async () => {
  const program = programOf("exec sleep 100");
  const open = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return "";
    }
  });
  expect(open.filter((file) => file.startsWith(folder.path))).toEqual([]);
  await program.stop({ graceMs: 0, reason });
});

test("a program is asked where it stands also when that failed before", async () => {
  const program = programOf("exec sleep 100");
  jest.spyOn(program.tree, "members").mockImplementationOnce(() => {
    throw new Error("EMFILE");
  });
  const asked = [program.stacks(folder.path), program.stacks(folder.path)];
  expect(await Promise.allSettled(asked)).toMatchObject([{ status: "rejected" }, { status: "fulfilled" }]);
  await program.stop({ graceMs: 0, reason });
});

describe("a program of two processes", () => {
  const twoProcesses = (command: string) => programOf(command, "1");

  test("has ended when both have", async () => {
    const program = twoProcesses(
      '[ "$RANK" = 1 ] && until [ -e "$MARK/first" ]; do sleep 0.02; done; touch "$MARK/first"; echo "rank $RANK"',
    );
    expect((await program.ended).exitCode).toBe(0);
    expect(program.output.tail("stdout").trim().split("\n").sort()).toEqual(["rank 0", "rank 1"]);
  });

  test("fails as the first of them that fails, and the other is ended with what it left", async () => {
    const program = twoProcesses('[ "$RANK" = 0 ] && exec sleep 600; exit 7');
    expect((await program.ended).exitCode).toBe(7);
    expect(program.processNames()).toEqual(["sleep"]);
    expect(await program.clearLeftovers(0)).toBe(true);
    expect(program.tree.members()).toEqual([]);
  });

  test("is stopped as a whole", async () => {
    const program = twoProcesses("exec sleep 600");
    expect(await program.stop({ graceMs: 5_000, reason })).toBe(true);
    expect((await program.ended).signal).toBe("SIGTERM");
  });
});

import { afterEach, describe, expect, it } from "@jest/globals";
import { MasterConnection } from "../../../client/master/master-connection.ts";
import { stacksJson, stacksLines } from "../../../client/sessions/stacks.ts";
import type { SessionWanted } from "../../../src/api/session-messages.ts";
import { type SceneOptions, SessionScene } from "../../support/session-scene.ts";
import { aJobStatus } from "../job-status.ts";

const scenes: SessionScene[] = [];
afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.close();
});

async function connected(options: SceneOptions): Promise<MasterConnection> {
  const scene = await SessionScene.open(options);
  scenes.push(scene);
  return new MasterConnection(scene.client);
}

const shell = { pid: 1, parent: 0, program: "bash", why: "it is not Python" };
const at = 'Current thread 0x01 (most recent call first):\n  File "/data/train.py", line 26 in <module>\n';

describe("the stacks of a task", () => {
  it("come whole, however long they are, and say where it stands", async () => {
    const stacks = `Thread 0x02 (most recent call first):\n  File "${"x".repeat(300_000)}", line 1 in f\n\n${at}`;
    const python = { pid: 2, parent: 1, program: "python3.11", stacks };
    const taken = await stacksJson(await connected({ stacks: [shell, python] }), "worker:0");
    expect(taken).toEqual({
      tasks: [{ task: "worker:0", processes: [shell, python] }],
      groups: [{ where: "at train.py:26", who: ["worker:0"] }],
    });
    expect(stacksLines(taken).slice(0, 3)).toEqual(["worker:0 at train.py:26", "", "worker:0  python3.11 (process 2)"]);
  });

  it("are not read on where an executor sends more than there can be", async () => {
    const endless = { ...shell, why: "x".repeat(17 * 1024 * 1024) };
    const read = stacksJson(await connected({ stacks: [endless] }), "worker:0");
    await expect(read).rejects.toThrow("worker:0 sends more than 16 MiB, too much for stacks");
  });

  it("are missing of a program that is not Python, which is said", async () => {
    const taken = await stacksJson(await connected({ stacks: [shell] }), "worker:0");
    expect(stacksLines(taken)).toEqual(["", "worker:0  bash (process 1): no stacks, it is not Python"]);
  });

  it("are those of all tasks that run where none is named, however many there are", async () => {
    const master = await connected({ stacks: [{ pid: 2, parent: 1, program: "python3", stacks: at }] });
    const names = Array.from({ length: 70 }, (_, index) => `worker:${index}`);
    const ended = { task: "worker:70", state: "succeeded", restarts: 0 } as const;
    const tasks = [...names.map((task) => ({ task, state: "running", restarts: 0 }) as const), ended];
    const job = {
      openSession: (_: string, wanted: SessionWanted) => master.openSession("worker:0", wanted),
      async *follow() {
        yield { type: "status", status: aJobStatus({ tasks }) } as const;
      },
    };
    const taken = await stacksJson(job, undefined);
    expect(taken.tasks.map(({ task }) => task)).toEqual(names);
    expect(taken.groups).toMatchObject([{ where: "at train.py:26", who: { length: 70 } }]);
  });

  it("are told beside those that cannot be, where several tasks are meant", async () => {
    const master = await connected({ stacks: [{ pid: 2, parent: 1, program: "python3", stacks: at }] });
    const tasks = ["worker:0", "worker:1", "ps:0"].map((task) => ({ task, state: "running", restarts: 0 }) as const);
    const job = {
      openSession: (task: string, wanted: SessionWanted) =>
        master.openSession(task === "ps:0" ? "worker:9" : "worker:0", wanted),
      async *follow() {
        yield { type: "status", status: aJobStatus({ tasks }) } as const;
      },
    };
    const taken = await stacksJson(job, undefined);
    const [, , { processes, why } = {}] = taken.tasks;
    expect([taken.tasks.length, processes, typeof why]).toEqual([3, [], "string"]);
    expect(stacksLines(taken).slice(-2)).toEqual(["", `ps:0  ${why}`]);
  });

  it("of several processes are told each for itself, and of a shell that waits for them nothing", () => {
    const why = "it has just ended";
    const python = (pid: number, place: string) => ({
      pid,
      parent: 1,
      program: "python3",
      stacks: `${place}\n\n  in f\n`,
    });
    const ended = { pid: 4, parent: 1, program: "python3", why };
    const tasks = [{ task: "worker:0", processes: [shell, python(2, "one"), python(3, "two"), ended] }];
    const groups = [
      { where: "at one", who: ["worker:0 (process 2)", "worker:1"] },
      { where: "at two", who: ["worker:0 (process 3)"] },
    ];
    expect(stacksLines({ tasks, groups })).toEqual([
      ...["2 of 3 at one", "worker:0 (process 3) at two"],
      ...["", "worker:0  python3 (process 2)", "  one", "    in f"],
      ...["", "worker:0  python3 (process 3)", "  two", "    in f"],
      ...["", `worker:0  python3 (process 4): no stacks, ${why}`],
    ]);
  });

  it("are of no job whose programs do not run", async () => {
    const waiting = {
      openSession: () => {
        throw new RangeError("no task is asked");
      },
      async *follow() {
        yield {
          type: "status",
          status: aJobStatus({ tasks: [{ task: "worker:0", state: "waiting", restarts: 0 }] }),
        } as const;
      },
    };
    await expect(stacksJson(waiting, undefined)).rejects.toMatchObject({
      ...{ code: "NOT_RUNNING", exitCode: 3 },
      message: "No task runs its program at present",
    });
  });

  it("cannot be told while no program runs", async () => {
    const master = await connected({ environment: null });
    await expect(stacksJson(master, "worker:0")).rejects.toThrow("no program of the task runs at present");
  });
});

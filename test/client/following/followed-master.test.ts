import { beforeEach, describe, expect, test } from "@jest/globals";
import type { FollowOptions } from "../../../client/following/follow-options.ts";
import { FollowedMaster } from "../../../client/following/followed-master.ts";
import type {
  AttemptConnection,
  FollowUpdate,
  LogPiece,
  LogRequest,
} from "../../../client/master/attempt-connection.ts";
import type { JobOutcome } from "../../../src/job/status.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded } from "../job-status.ts";
import { aPlace } from "../place.ts";
import { type RecordedContext, recordedContext } from "../support.ts";
import { followedInto } from "./follow-options.ts";

const outcome: JobOutcome = { ...allSucceeded, endedAtMs: 0 };
const caller = { name: "", secret: new Uint8Array() };
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** An AM that says what it is told to, also when its link was closed: what was on its way arrives. */
class TalkingMaster implements AttemptConnection {
  closed = false;
  readonly reads: (readonly [task: string, stream: string, AbortSignal, offset: number])[] = [];
  prints = async function* (_task: string): AsyncGenerator<LogPiece> {};
  #say: () => void = () => undefined;
  readonly #waiting: (FollowUpdate | "lost")[] = [];

  /** It says this, or is lost. */
  async say(update: FollowUpdate | "lost"): Promise<void> {
    this.#waiting.push(update);
    this.#say();
    await settled();
  }

  async *follow(): AsyncGenerator<FollowUpdate> {
    for (;;) {
      const update = this.#waiting.shift();
      if (update === "lost") throw new Error("lost");
      if (update !== undefined) yield update;
      else
        await new Promise<void>((resolve) => {
          this.#say = resolve;
        });
    }
  }

  async *readLog({ task, stream, offset }: LogRequest, signal: AbortSignal): AsyncGenerator<LogPiece> {
    this.reads.push([task, stream, signal, offset]);
    if (stream === "stdout") yield* this.prints(task);
  }
  async stop(): Promise<void> {}
  close(): void {
    this.closed = true;
  }
}

let context: RecordedContext;
let masters: TalkingMaster[];
let followed: FollowedMaster;
let wakes: number;
beforeEach(() => {
  context = recordedContext({});
  masters = [];
  wakes = 0;
  followed = following();
});

function following(options: Partial<FollowOptions> = {}): FollowedMaster {
  const access = { applicationId: "", caller };
  return new FollowedMaster(
    {
      id: aReport().id,
      applications: aPlace({
        contact: async ({ currentAttemptId }) => ({
          attempt: Number(currentAttemptId?.slice(-1)),
          host: "nm1",
          port: 1,
          access,
        }),
        explainedSoon: (status) => status,
      }),
      connect: () => {
        const master = new TalkingMaster();
        masters.push(master);
        return master;
      },
      ...followedInto(context),
      ...options,
    },
    () => {
      wakes += 1;
    },
  );
}

const said = () => context.out.text + context.err.text;

/** The ResourceManager names this attempt. */
async function find(attempt: number): Promise<TalkingMaster> {
  await followed.find(aReport({ currentAttemptId: `appattempt_1795305600000_0009_00000${attempt}` }));
  const master = masters.at(-1);
  if (master === undefined) throw new Error("nobody was connected to");
  return master;
}
const saying = (attempt: number): FollowUpdate => ({ type: "status", status: aJobStatus({ attempt }) });

test("that the AM cannot be asked is told once, when that has lasted", async () => {
  followed = following({ applications: aPlace({ contact: async () => undefined }) });
  for (const passedMs of [0, 4_999]) {
    context.clock.nowMs += passedMs;
    await followed.find(aReport());
    expect(said()).toBe("");
  }
  context.clock.nowMs += 1;
  for (let asked = 0; asked < 2; asked += 1) await followed.find(aReport());
  expect(said()).toBe(
    "   5.0 s  Its AM cannot be asked: HDFS does not answer; until then only the ResourceManager is asked\n",
  );
});

test("of a search nobody's output is missed, nor read, where none is asked for", async () => {
  const search = { metric: "loss", direction: "minimize", parameters: [], command: "" } as const;
  const ofSearch = (logs: FollowOptions["logs"]) => following({ logs }).unseen(aJobStatus({ search }));
  expect(ofSearch({ kind: "lead" })).toEqual([]);
  expect(ofSearch({ kind: "named", names: ["trial:1"] })).toEqual(["worker:1"]);
  followed = following({ logs: { kind: "lead" } });
  const master = await find(1);
  await master.say({ type: "status", status: aJobStatus({ search }) });
  expect(master.reads).toEqual([]);
  followed.close();
});

describe("an attempt that another one replaced", () => {
  test("is left, and not gone back to", async () => {
    const first = await find(1);
    const second = await find(2);
    expect([first.closed, second.closed]).toEqual([true, false]);
    await find(1);
    await find(2);
    expect(masters).toEqual([first, second]);
  });

  test("is not gone back to when the other one is lost, which is news, and is looked for again", async () => {
    await find(1);
    const second = await find(2);
    await second.say(saying(2));
    await second.say("lost");
    expect(wakes).toBe(1);
    await find(1);
    expect(masters).toHaveLength(2);
    const again = await find(2);
    expect(masters).toHaveLength(3);
    await again.say("lost");
    expect(wakes).toBe(1);
  });

  test("is not believed any more: neither its state nor its outcome", async () => {
    const first = await find(1);
    await first.say(saying(1));
    const second = await find(2);
    await second.say(saying(2));
    const shown = said();
    await first.say({ type: "status", status: aJobStatus({ outcome, state: "succeeded" }) });
    await first.say({ type: "outcome", outcome });
    expect([followed.outcome, said()]).toEqual([undefined, shown]);
    await second.say({ type: "outcome", outcome });
    expect(followed.outcome).toBe(outcome);
    followed.close();
  });

  test("has said how the job ends for all that come after it", async () => {
    const first = await find(1);
    await first.say({ type: "status", status: aJobStatus({ outcome, state: "finishing" }) });
    const second = await find(2);
    await second.say(saying(2));
    expect(followed.outcome).toBe(outcome);
    followed.close();
  });
});

test("each silence of the AM is told once, and its end", async () => {
  const master = await find(1);
  await master.say(saying(1));
  for (let silence = 1; silence <= 2; silence += 1) {
    context.clock.nowMs += 5_000;
    expect(followed.isHeard).toBe(false);
    followed.tellSilence(undefined);
    followed.tellSilence(undefined);
    expect(said().match(/The AM has not answered for 5 s/g)).toHaveLength(silence);
    await master.say(saying(1));
    expect(said().match(/The AM answers again/g)).toHaveLength(silence);
    expect(followed.isHeard).toBe(true);
  }
  followed.close();
});

test("the silence is told with what the ResourceManager says meanwhile", async () => {
  const master = await find(1);
  await master.say(saying(1));
  context.clock.nowMs += 5_000;
  followed.tellSilence(aReport({ state: "RUNNING", currentAttemptId: "appattempt_1795305600000_0009_000002" }));
  expect(said()).toContain(
    "The AM has not answered for 5 s; the ResourceManager says RUNNING, attempt 2; still trying",
  );
  followed.close();
});

test("what the cluster knows of a state is shown with it", async () => {
  const explained = aJobStatus({ amHost: "explained" });
  followed = following({
    applications: aPlace({
      contact: async () => ({ attempt: 1, host: "nm1", port: 1, access: { applicationId: "", caller } }),
      explainedSoon: () => explained,
    }),
  });
  const master = await find(1);
  await master.say(saying(1));
  expect(said()).toContain("AM running on explained");
  followed.close();
});

describe("the output of tasks", () => {
  const reads = ({ reads: all }: TalkingMaster) => all.map(([task, stream]) => `${task} ${stream}`);
  const printing = (text: string) => ({ offset: 0, data: Buffer.from(text), generation: 1, skippedBytes: 0 });

  test("is read as soon as the tasks are known: before the AM has told of any, where the job does", async () => {
    followed = following({ tasks: ["worker:0", "ps:0"], logs: { kind: "lead" }, leadTask: "ps:0" });
    const master = await find(1);
    expect(reads(master)).toEqual(["ps:0 stdout", "ps:0 stderr"]);
    await master.say(saying(1));
    expect(reads(master)).toHaveLength(2);
    followed.close();
  });

  test("is the lead task's that is named, or that which usually leads", async () => {
    for (const [leadTask, lead] of [
      ["ps:0", "ps:0"],
      [undefined, "worker:0"],
    ] as const) {
      followed = following({ logs: { kind: "lead" }, ...(leadTask && { leadTask }) });
      const master = await find(1);
      await master.say(saying(1));
      expect(new Set(master.reads.map(([task]) => task))).toEqual(new Set([lead]));
      const tasks = aJobStatus().tasks.map((task) => ({ ...task, startedAtMs: 1 }));
      expect(
        following({ logs: { kind: "lead" }, ...(leadTask && { leadTask }) }).unseen(aJobStatus({ tasks })),
      ).toEqual([lead]);
      followed.close();
    }
  });

  test("of the ApplicationMaster is its one log", async () => {
    followed = following({ logs: { kind: "master" } });
    const master = await find(1);
    await master.say(saying(1));
    expect(reads(master)).toEqual(["am stdout"]);
    followed.close();
  });

  test("is read on from the next attempt where the last one was read to, but for the ApplicationMaster's, which begins anew", async () => {
    for (const [logs, task, offset] of [
      [{ kind: "named", names: ["worker:0"] }, "worker:0", 8],
      [{ kind: "master" }, "am", 0],
    ] as const) {
      followed = following({ logs });
      const first = await find(1);
      first.prints = async function* () {
        yield printing("printed\n");
        throw new Error("broken");
      };
      await first.say(saying(1));
      const second = await find(2);
      expect(second.reads.flatMap(([of, stream, , from]) => (stream === "stdout" ? [[of, from]] : []))).toEqual([
        [task, offset],
      ]);
      followed.close();
    }
  });

  test("of a trial that there is not, or that ended in an earlier search, is refused in the words of the search", async () => {
    const search = { metric: "loss", direction: "minimize", parameters: [], command: "" } as const;
    const trial = { state: "completed", application: "application_1_0001" } as const;
    const [worker, ...others] = aJobStatus().tasks;
    if (worker === undefined) throw new Error("a worker");
    const tasks = [{ ...worker, trial }, ...others.slice(0, 1)];
    const refusal = async (name: string) => {
      followed = following({ logs: { kind: "named", names: [name] } });
      const master = await find(1);
      for (let times = 0; times < 2; times += 1)
        await master.say({ type: "status", status: aJobStatus({ search, tasks }) });
      followed.close();
      return followed.refused?.message;
    };
    expect(await refusal("trial:0")).toBe(
      "trial:0 ended in application_1_0001, which has its logs: tony-ts logs application_1_0001 trial:0",
    );
    expect(await refusal("trial:7")).toBe("The job has no task trial:7; it has trial:0, trial:1");
    expect(await refusal("trial:1")).toBeUndefined();
  });

  test("of a task that the job has not is refused, and that is news", async () => {
    followed = following({ logs: { kind: "named", names: ["evaluator:0"] } });
    const master = await find(1);
    expect(followed.refused).toBeUndefined();
    await master.say(saying(1));
    expect(followed.refused?.message).toContain("evaluator:0");
    expect([wakes, reads(master)]).toEqual([1, []]);
    followed.close();
  });

  test("is refused before the AM has told of any where the job's tasks are known", async () => {
    followed = following({ tasks: ["worker:0"], logs: { kind: "named", names: ["evaluator:0"] } });
    const master = await find(1);
    expect(followed.refused?.message).toBe("The job has no task evaluator:0; it has worker:0");
    expect([wakes, reads(master)]).toEqual([1, []]);
    followed.close();
  });

  test("is missed of those that were not read to their end, by the state that was kept, or was heard last", async () => {
    const [worker, ...others] = aJobStatus().tasks.map((task) => ({ ...task, startedAtMs: 1 }));
    const master = await find(1);
    master.prints = async function* (task) {
      yield printing("printed\n");
      if (task !== "worker:0") throw new Error("broken");
    };
    await master.say({
      type: "status",
      status: aJobStatus({ tasks: worker === undefined ? [] : [worker, ...others] }),
    });
    expect(followed.unseen(undefined)).toEqual(["worker:1", "ps:0"]);
    expect(followed.unseen(aJobStatus({ tasks: others.slice(0, 1) }))).toEqual(["worker:1"]);
    expect(["worker:1", "worker:7"].map((task) => followed.isUnread(task))).toEqual([false, true]);
    followed.close();
  });

  test("that is on its way when the job has ended is waited for", async () => {
    const master = await find(1);
    let send = (): void => undefined;
    const sent = new Promise<void>((resolve) => {
      send = resolve;
    });
    master.prints = async function* () {
      await sent;
      yield printing("the last line\n");
    };
    await master.say(saying(1));
    const finished = followed.finish().then(() => said());
    await settled();
    send();
    expect((await finished).match(/the last line/g)).toHaveLength(3);
    followed.close();
  });

  test("is read no more when nobody follows any more", async () => {
    const master = await find(1);
    await master.say(saying(1));
    followed.close();
    expect(master.reads.map(([, , signal]) => signal.aborted)).toEqual(master.reads.map(() => true));
    expect([master.reads.length, master.closed]).toEqual([6, true]);
  });
});

import { beforeEach, describe, expect, test } from "@jest/globals";
import type { FollowOptions } from "../../../client/following/follow-options.ts";
import { FollowedMaster } from "../../../client/following/followed-master.ts";
import type { AttemptConnection, FollowUpdate } from "../../../client/master/attempt-connection.ts";
import type { JobOutcome } from "../../../src/job/status.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded } from "../job-status.ts";
import { aPlace } from "../place.ts";
import { type RecordedContext, recordedContext } from "../support.ts";
import { followedInto } from "./follow-options.ts";

const outcome: JobOutcome = { ...allSucceeded, endedAtMs: 0 };
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** An AM that says what it is told to, also when its link was closed: what was on its way arrives. */
class TalkingMaster implements AttemptConnection {
  closed = false;
  #say: (update: FollowUpdate) => void = () => undefined;
  readonly #waiting: FollowUpdate[] = [];

  async say(...updates: FollowUpdate[]): Promise<void> {
    for (const update of updates) {
      this.#waiting.push(update);
      this.#say(update);
    }
    await settled();
  }

  async *follow(): AsyncGenerator<FollowUpdate> {
    for (;;) {
      const update = this.#waiting.shift();
      if (update !== undefined) yield update;
      else
        await new Promise<void>((resolve) => {
          this.#say = () => resolve();
        });
    }
  }

  async *readLog(): AsyncGenerator<never> {}
  async stop(): Promise<void> {}
  close(): void {
    this.closed = true;
  }
}

let context: RecordedContext;
let masters: TalkingMaster[];
let followed: FollowedMaster;
beforeEach(() => {
  context = recordedContext({});
  masters = [];
  followed = following();
});

function following(options: Partial<FollowOptions> = {}): FollowedMaster {
  const access = { applicationId: "", caller: { name: "", secret: new Uint8Array() } };
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
    () => undefined,
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

test("of a search nobody's output is missed where none is asked for", async () => {
  const search = { metric: "loss", direction: "minimize", parameters: [], command: "" } as const;
  const ofSearch = (logs: FollowOptions["logs"]) => following({ logs }).unseen(aJobStatus({ search }));
  expect(ofSearch({ kind: "lead" })).toEqual([]);
  expect(ofSearch({ kind: "named", names: ["trial:1"] })).toEqual(["worker:1"]);
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

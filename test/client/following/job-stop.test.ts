import { beforeEach, describe, expect, test } from "@jest/globals";
import { EventView } from "../../../client/following/event-view.ts";
import type { FollowOptions } from "../../../client/following/follow-options.ts";
import { JobStop } from "../../../client/following/job-stop.ts";
import type { AttemptConnection } from "../../../client/master/attempt-connection.ts";
import { MasterSession } from "../../../client/master/master-session.ts";
import type { FollowEvent } from "../../../client/printed-json.ts";
import { HadoopError } from "../../../src/hadoop/errors.ts";
import type { JobStatus } from "../../../src/job/status.ts";
import { aJobStatus } from "../job-status.ts";
import { aPlace } from "../place.ts";
import { endingBy, masterSaying } from "../speaking-master.ts";
import { type RecordedContext, recordedContext } from "../support.ts";
import { followedInto } from "./follow-options.ts";

const away = new HadoopError("connection refused", { code: "RPC_CONNECT_FAILED" });

let context: RecordedContext;
let kills: number;
/** What the ResourceManager says to the next requests; nothing: it takes them. */
let refusals: Error[];
beforeEach(() => {
  context = recordedContext({});
  kills = 0;
  refusals = [];
});

const said = () => context.out.text + context.err.text;

function stopOf(changes: Partial<FollowOptions> = {}): JobStop {
  const applications = aPlace({
    kill: async () => {
      kills += 1;
      const refusal = refusals.shift();
      if (refusal !== undefined) throw refusal;
    },
  });
  return new JobStop({
    id: "application_1795305600000_0009",
    applications,
    connect: () => masterSaying(aJobStatus),
    ...followedInto(context),
    ...changes,
  });
}

/** A session that has heard the AM say this. */
async function hearing(status: () => JobStatus, changes: Partial<AttemptConnection> = {}) {
  let heard = (): void => undefined;
  const first = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const access = { applicationId: "", caller: { name: "", secret: new Uint8Array() } };
  const session = new MasterSession(
    { attempt: 1, host: "nm1", port: 1, access },
    { ...masterSaying(status), ...changes },
    { status: () => heard(), outcome: () => undefined, closed: () => undefined },
    context.now,
  );
  await first;
  return session;
}

describe("a job without an AM that can be asked", () => {
  test("is killed again as long as the ResourceManager has not taken it", async () => {
    const stop = stopOf();
    refusals = [away, away];
    for (const kill of [1, 2, 3, 3, 3]) {
      await stop.press(undefined);
      expect(kills).toBe(kill);
      context.clock.nowMs += 10_000;
    }
    expect(said().match(/The job could not be asked to end, trying again: connection refused/g)).toHaveLength(2);
  });

  test("is said to be ended once the ResourceManager has taken that", async () => {
    let ending = 0;
    const stop = stopOf({
      ending: () => {
        ending += 1;
      },
    });
    refusals = [away];
    for (const told of [0, 1, 1]) {
      await stop.press(undefined);
      expect(ending).toBe(told);
      context.clock.nowMs += 10_000;
    }
  });

  test("is left when it has not ended in time", async () => {
    const events: FollowEvent[] = [];
    const view = new EventView({
      event: (event) => events.push(event),
      problem: context.output.problem.bind(context.output),
    });
    const stop = stopOf({ view });
    await stop.press(undefined);
    context.clock.nowMs += 14_999;
    expect(stop.isOverdue).toBe(false);
    context.clock.nowMs += 1;
    expect(stop.isOverdue).toBe(true);
    expect(stop.leave()).toBe(5);
    expect(said()).toBe(
      "application_1795305600000_0009 has not ended within 15 s and may still run: tony-ts kill application_1795305600000_0009\n",
    );
    expect(events).toEqual([
      { event: "remark", text: "Ending the job" },
      { event: "end", outcome: null, exitCode: 5 },
    ]);
  });
});

describe("a job whose AM was asked to stop", () => {
  test("is said to be ended, and again once the AM has taken that, without a word of a time that nobody waits for", async () => {
    const told: string[] = [];
    const stop = stopOf({ ending: () => told.push(said()) });
    const session = await hearing(() => endingBy(context.now() + 5_000, context.now()));
    for (let presses = 0; presses < 2; presses += 1) {
      await hearingAgain(session);
      await stop.press(session);
    }
    const ending = "   0.0 s  Ending the job; press Ctrl-C again to leave at once\n";
    expect([told, said()]).toEqual([[ending], ending]);
    session.close();
  });

  test("is killed where that does not say that it does, once", async () => {
    const stop = stopOf();
    const session = await hearing(aJobStatus);
    for (const kill of [0, 0, 1, 1]) {
      await stop.press(session);
      expect(kills).toBe(kill);
      context.clock.nowMs += 5_000;
    }
    session.close();
  });

  test("is not killed while its AM says that it ends, but is where that takes its word back", async () => {
    const stop = stopOf();
    let status = endingBy(context.now() + 60_000, context.now());
    const session = await hearing(() => status);
    await stop.press(session);
    context.clock.nowMs += 20_000;
    await hearingAgain(session);
    await stop.press(session);
    expect([kills, stop.isOverdue]).toEqual([0, false]);
    status = aJobStatus();
    await hearingAgain(session);
    await stop.press(session);
    expect(kills).toBe(1);
    session.close();
  });

  test("says once until when its programs have time, and waits until then", async () => {
    const stop = stopOf();
    const session = await hearing(() => endingBy(context.now() + 60_000, context.now()));
    for (let presses = 0; presses < 3; presses += 1) {
      await hearingAgain(session);
      await stop.press(session);
      context.clock.nowMs += 20_000;
    }
    expect(said().match(/The job has until/g)).toHaveLength(1);
    session.close();
  });

  test("is left to the ResourceManager where the AM cannot be asked, which is told", async () => {
    const stop = stopOf();
    const session = await hearing(aJobStatus, {
      stop: async () => {
        throw new HadoopError("connection lost", { code: "API_UNREACHABLE" });
      },
    });
    await stop.press(session);
    expect(kills).toBe(1);
    expect(said()).toContain("The AM cannot be asked to end it: connection lost\n");
    session.close();
  });

  test("has no more time than whoever stopped us: then it is killed, and left soon after", async () => {
    const stop = stopOf({ endWithinMs: 2_000 });
    const session = await hearing(() => endingBy(context.now() + 60_000, context.now()));
    for (const [passedMs, kill, isOverdue] of [
      [0, 0, false],
      [1_999, 0, false],
      [1, 1, false],
      [4_999, 1, false],
      [1, 1, true],
    ] as const) {
      context.clock.nowMs += passedMs;
      await stop.press(session);
      expect([kills, stop.isOverdue]).toEqual([kill, isOverdue]);
    }
    expect(said()).not.toContain("The job has until");
    session.close();
  });

  test("is left to the ResourceManager where the AM refuses", async () => {
    const stop = stopOf();
    const session = await hearing(aJobStatus, {
      stop: async () => {
        throw new HadoopError("not yours", { code: "API_FORBIDDEN" });
      },
    });
    await stop.press(session);
    expect(kills).toBe(1);
    session.close();
  });
});

/** It says its state several times within this. */
async function hearingAgain(session: MasterSession): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 25));
    if (session.silentMs === 0) return;
  }
  throw new Error("the AM says nothing");
}

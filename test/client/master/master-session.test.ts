import { describe, expect, test } from "@jest/globals";
import type { FollowUpdate } from "../../../client/master/attempt-connection.ts";
import { MasterSession } from "../../../client/master/master-session.ts";
import { eventually } from "../../support/eventually.ts";
import { aJobStatus, allSucceeded } from "../job-status.ts";
import { endingBy, masterSaying } from "../speaking-master.ts";

const access = { applicationId: "", caller: { name: "", secret: new Uint8Array() } };
const outcome = { ...allSucceeded, endedAtMs: 1 };

/** A session with an AM that says what it is given, one after the other: an error breaks the stream, undefined ends it. */
function scene() {
  let nowMs = 1_000;
  let tell: (update: FollowUpdate | Error | undefined) => void = () => undefined;
  let isClosed = false;
  const heard: unknown[] = [];
  const signals: AbortSignal[] = [];
  const link = {
    ...masterSaying(() => aJobStatus()),
    async *follow(signal: AbortSignal): AsyncGenerator<FollowUpdate> {
      signals.push(signal);
      for (;;) {
        const update = await new Promise<FollowUpdate | Error | undefined>((resolve) => {
          tell = resolve;
        });
        if (update instanceof Error) throw update;
        if (update === undefined) return;
        yield update;
      }
    },
    close: () => {
      isClosed = true;
    },
  };
  const events = {
    status: () => heard.push("status"),
    outcome: () => heard.push("outcome"),
    closed: (wasOpen: boolean) => heard.push(wasOpen ? "closed after it was heard" : "closed unheard"),
  };
  const session = new MasterSession({ attempt: 1, host: "n1", port: 1, access }, link, events, () => nowMs);
  const say = async (update: FollowUpdate | Error | undefined) => {
    const before = heard.length;
    tell(update);
    await eventually("it is heard", () => heard.length > before);
  };
  const later = (ms: number) => {
    nowMs += ms;
  };
  return { session, say, later, heard, signals, isClosed: () => isClosed };
}
const running = (): FollowUpdate => ({ type: "status", status: aJobStatus() });
const ending = (inMs: number, nowMs: number) =>
  ({ type: "status", status: endingBy(nowMs + inMs, nowMs) }) satisfies FollowUpdate;

describe("what is heard of an attempt's AM", () => {
  test("begins with its first word, and ends with its last", async () => {
    const { session, say, heard } = scene();
    expect(session.state).toBe("connecting");
    await say(running());
    expect([session.state, session.heardOutcome, session.isEnding]).toEqual(["open", false, false]);
    await say({ type: "outcome", outcome });
    expect([session.state, session.heardOutcome, session.isEnding]).toEqual(["open", true, true]);
    await say(undefined);
    expect([session.state, session.problem, session.isEnding]).toEqual(["closed", "", true]);
    expect(heard).toEqual(["status", "outcome", "closed after it was heard"]);
  });

  test("says why it broke, and whether it was ever heard", async () => {
    const { session, say, heard } = scene();
    await say(new Error("refused"));
    expect([session.state, session.problem, heard]).toEqual(["closed", "refused", ["closed unheard"]]);
  });

  test("counts the silence from its last word, and before that from the connection", async () => {
    const { session, say, later } = scene();
    later(300);
    expect(session.silentMs).toBe(300);
    await say(running());
    expect(session.silentMs).toBe(0);
    later(20);
    expect(session.silentMs).toBe(20);
  });

  test("is that of an AM which ends the job while it goes on saying so, for five seconds without a word", async () => {
    const { session, say, later } = scene();
    await say(ending(60_000, 9_000));
    later(4_999);
    expect(session.isEnding).toBe(true);
    later(1);
    expect(session.isEnding).toBe(false);
    await say(ending(60_000, 9_000));
    expect(session.isEnding).toBe(true);
    await say(running());
    expect(session.isEnding).toBe(false);
    await say(ending(60_000, 9_000));
    await say(new Error("lost"));
    expect(session.isEnding).toBe(false);
  });

  test("says by our clock when the programs of a job that ends will have stopped", async () => {
    const { session, say } = scene();
    await say(running());
    expect(session.stoppedAtMs).toBe(0);
    await say(ending(7_000, 500_000));
    expect(session.stoppedAtMs).toBe(1_000 + 7_000);
    const { status } = ending(9_000, 500_000);
    await say({ type: "status", status: { ...status, waits: [] } });
    expect(session.stoppedAtMs).toBe(1_000 + 7_000);
  });

  test("says nothing of when a job that goes on will have stopped, whatever it waits for", async () => {
    const { session, say } = scene();
    const { outcome: _, ...status } = ending(7_000, 500_000).status;
    await say({ type: "status", status });
    expect([session.stoppedAtMs, session.isEnding, session.contact.host]).toEqual([0, false, "n1"]);
  });

  test("ends what it asked for when it is closed", () => {
    const { session, signals, isClosed } = scene();
    session.close();
    expect([signals.map(({ aborted }) => aborted), isClosed()]).toEqual([[true], true]);
  });
});

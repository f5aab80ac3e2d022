import { describe, expect, test } from "@jest/globals";
import type { Applications, MasterContact } from "../../../client/applications/applications.ts";
import { endApplication, killedBy } from "../../../client/master/end-application.ts";
import type { ApplicationReport } from "../../../src/hadoop/yarn/records.ts";
import type { JobStatus } from "../../../src/job/status.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus } from "../job-status.ts";
import { aPlace } from "../place.ts";
import { endingBy, masterSaying } from "../speaking-master.ts";
import { recordedContext } from "../support.ts";

const running = aReport({ state: "RUNNING", amHost: "127.0.0.12", amRpcPort: 4242 });
const killed = aReport({ state: "KILLED", finalStatus: "KILLED" });
interface Scene {
  readonly most?: number;
  readonly stop?: () => Promise<void>;
  /** From one look to the next. */
  readonly lookMs?: number;
  readonly contact?: Applications["contact"];
  /** The job as it was found. */
  readonly before?: ApplicationReport;
  /** Why the ResourceManager does not end it. */
  readonly refusal?: Error;
}
const access = { applicationId: "", caller: { name: "", secret: new Uint8Array() } };
const master: MasterContact = { attempt: 1, host: "127.0.0.12", port: 4242, access };

/** Ends a job that has ended after so many looks; how it was ended by force, after how many looks, and what was said. `most`: how often its AM speaks. */
async function end(
  endsAfterLooks: number,
  status: (nowMs: number) => JobStatus,
  { most, stop, contact = async () => master, lookMs = 1_000, before = running, refusal }: Scene = {},
) {
  const context = recordedContext({});
  const begunMs = context.clock.nowMs;
  const forced: string[] = [];
  const looks: number[] = [];
  let closed = 0;
  const applications = aPlace({
    report: async () => {
      context.clock.nowMs += lookMs;
      return context.clock.nowMs < begunMs + endsAfterLooks * lookMs ? running : killed;
    },
    contact,
    kill: async (id, reason) => {
      if (id !== running.id) throw new RangeError(`${id} is another job`);
      forced.push(reason);
      looks.push((context.clock.nowMs - begunMs) / lookMs);
      if (refusal !== undefined) throw refusal;
    },
  });
  const connect = () => {
    const link = masterSaying(() => status(context.clock.nowMs), most);
    const close = () => {
      closed += 1;
    };
    return { ...link, ...(stop && { stop }), close };
  };
  const { output, clock } = context;
  const report = await endApplication(applications, before, "enough", { output, now: clock.now }, connect).catch(
    (error: unknown) => error,
  );
  return { report, forced, looks, said: context.err.text, closed };
}

describe("ending a job", () => {
  test("leaves its programs the grace that its AM gives them", async () => {
    expect(await end(20, (nowMs) => endingBy(nowMs + 60_000, nowMs))).toEqual({
      ...{ report: killed, forced: [], looks: [], said: "" },
      closed: 1,
    });
  });

  test("asks the ResourceManager where the AM took the request and does nothing", async () => {
    const { forced, looks, said } = await end(12, (nowMs) => aJobStatus({ state: "running", nowMs }));
    expect(looks).toEqual([9]);
    expect(forced).toEqual([expect.stringMatching(/^killed by ada from \S+: enough$/)]);
    expect(said).toContain("asking the ResourceManager to end it");
  });

  test("asks it, too, where the AM has said that it ends the job, and fallen silent: once", async () => {
    const { forced } = await end(25, (nowMs) => endingBy(nowMs, nowMs), { most: 1 });
    expect(forced).toHaveLength(1);
  });

  test.each<[string, Scene, number]>([
    ["where its AM cannot be found", { contact: async () => undefined }, 0],
    ["where nobody can say where it is", { contact: async () => Promise.reject(new Error("HDFS is away")) }, 0],
    ["where its AM does not take the request", { stop: async () => Promise.reject(new Error("lost")) }, 1],
  ])("asks the ResourceManager at once %s, once, and says nothing of it", async (_where, scene, closed) => {
    const { report, looks, said, ...others } = await end(12, (nowMs) => aJobStatus({ nowMs }), scene);
    expect({ report, looks, said, closed: others.closed }).toEqual({ report: killed, looks: [0], said: "", closed });
  });

  test("asks its AM also where that has yet to register with a ResourceManager that has just begun", async () => {
    const before = aReport({ diagnostics: "Attempt recovered after RM restart" });
    const told = await end(2, (nowMs) => endingBy(nowMs + 60_000, nowMs), { before });
    expect(told).toMatchObject({ report: killed, forced: [], closed: 1 });
    expect(told.said).not.toBe("");
  });

  test("fails with the refusal of the ResourceManager, at once or later", async () => {
    const refusal = new Error("not yours");
    const status = (nowMs: number) => aJobStatus({ nowMs });
    expect((await end(2, status, { contact: async () => undefined, refusal })).report).toBe(refusal);
    expect(await end(2, status, { lookMs: 10_000, refusal })).toMatchObject({ report: refusal, closed: 1 });
  });

  test("is given up after thirty seconds, or as long after its programs' grace", async () => {
    const lookMs = 10_000;
    const silent = { contact: async () => undefined, lookMs };
    const status = (nowMs: number) => aJobStatus({ nowMs });
    expect((await end(4, status, silent)).report).toBe(killed);
    expect((await end(5, status, silent)).report).toMatchObject({
      code: "STILL_RUNNING",
      exitCode: 5,
      message: `${running.id} has not ended in time: it is RUNNING`,
    });
    const endsAtMs = recordedContext({}).clock.nowMs + 20_000;
    const ending = (nowMs: number) => endingBy(endsAtMs, nowMs);
    expect((await end(6, ending, { lookMs })).report).toBe(killed);
    expect((await end(7, ending, { lookMs })).report).toMatchObject({ code: "STILL_RUNNING" });
  });

  test("is told to who looks at the job later: by whom, from where, and how or why", () => {
    expect(killedBy("ada", "SIGINT")).toMatch(/^killed by ada from \S+ \(SIGINT\)$/);
    expect(killedBy("ada", "tony-ts kill", "enough")).toMatch(/^killed by ada from \S+: enough$/);
  });
});

import { describe, expect, test } from "@jest/globals";
import { endApplication } from "../../../client/master/end-application.ts";
import type { JobStatus } from "../../../src/job/status.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus } from "../job-status.ts";
import { aPlace } from "../place.ts";
import { endingBy, masterSaying } from "../speaking-master.ts";
import { recordedContext } from "../support.ts";

const running = aReport({ state: "RUNNING", amHost: "127.0.0.12", amRpcPort: 4242 });
const killed = aReport({ state: "KILLED", finalStatus: "KILLED" });
const access = { applicationId: "", caller: { name: "", secret: new Uint8Array() } };

/** Ends a job that has ended after so many looks, each a second apart; how it was ended by force, and what was said. `most`: how often its AM speaks. */
async function end(endsAfterLooks: number, status: (nowMs: number) => JobStatus, most?: number) {
  const context = recordedContext({});
  const forced: string[] = [];
  const endsAtMs = context.clock.nowMs + endsAfterLooks * 1_000;
  const applications = aPlace({
    report: async () => {
      context.clock.nowMs += 1_000;
      return context.clock.nowMs < endsAtMs ? running : killed;
    },
    contact: async () => ({ attempt: 1, host: "127.0.0.12", port: 4242, access }),
    kill: async (_id, reason) => void forced.push(reason),
  });
  const connect = () => masterSaying(() => status(context.clock.nowMs), most);
  const { output, clock } = context;
  const report = await endApplication(applications, running, "enough", { output, now: clock.now }, connect);
  return { report, forced, said: context.err.text };
}

describe("ending a job", () => {
  test("leaves its programs the grace that its AM gives them", async () => {
    expect(await end(20, (nowMs) => endingBy(nowMs + 60_000, nowMs))).toEqual({ report: killed, forced: [], said: "" });
  });

  test("asks the ResourceManager where the AM took the request and does nothing", async () => {
    const { forced, said } = await end(12, (nowMs) => aJobStatus({ state: "running", nowMs }));
    expect(forced).toEqual([expect.stringMatching(/^killed by ada from \S+: enough$/)]);
    expect(said).toContain("asking the ResourceManager to end it");
  });

  test("asks it, too, where the AM has said that it ends the job, and fallen silent: once", async () => {
    const { forced } = await end(25, (nowMs) => endingBy(nowMs, nowMs), 1);
    expect(forced).toHaveLength(1);
  });
});

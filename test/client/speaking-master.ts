import type { AttemptConnection, FollowUpdate } from "../../client/master/attempt-connection.ts";
import { sleep } from "../../src/hadoop/clock.ts";
import { endedBecause } from "../../src/job/outcome.ts";
import type { JobStatus } from "../../src/job/status.ts";
import { waitOf } from "../../src/job/wait.ts";
import { aJobStatus } from "./job-status.ts";

/** An AM that takes the request to stop and goes on saying how the job is, so often at most. */
export function masterSaying(status: () => JobStatus, most = Number.POSITIVE_INFINITY): AttemptConnection {
  return {
    async *follow(signal): AsyncGenerator<FollowUpdate> {
      for (let said = 0; !signal.aborted; said += 1) {
        if (said < most) yield { type: "status", status: status() };
        await sleep(10, signal);
      }
    },
    async *readLog() {},
    stop: async () => undefined,
    close: () => undefined,
  };
}

/** A job that is killed, whose programs have until then to stop. */
export function endingBy(endsAtMs: number, nowMs: number): JobStatus {
  return aJobStatus({
    state: "finishing",
    nowMs,
    outcome: { ...endedBecause("killed", { code: "stop-requested", words: "enough" }), endedAtMs: nowMs },
    waits: [waitOf({ reason: { code: "programs-end", uploads: false }, sinceMs: 0, endsAtMs })],
  });
}

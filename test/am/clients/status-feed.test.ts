import { describe, expect, test } from "@jest/globals";
import { StatusFeed } from "../../../am/clients/status-feed.ts";
import { jobOutcome, jobStatus } from "../../../src/api/status-codec.ts";
import { aJobStatus, allSucceeded } from "../../client/job-status.ts";
import { SteppedClock } from "../../support/stepped-clock.ts";

const ended = { ...allSucceeded, endedAtMs: 1 };

/** A job whose status is the number of its generation, and a follower who notes what he is told. */
function setUp() {
  const clock = new SteppedClock();
  const job = { generation: 1 };
  const feed = new StatusFeed(() => aJobStatus(job), clock);
  const follow = () => {
    const told: (number | string)[] = [];
    const stop = feed.follow({
      status: (bytes) => told.push(jobStatus.decode(bytes).generation),
      outcome: (bytes) => told.push(jobOutcome.decode(bytes).result),
    });
    return { told, stop };
  };
  const change = () => {
    job.generation += 1;
    feed.changed();
  };
  return { clock, feed, follow, change };
}

describe("a client that follows a job", () => {
  test("is told its status at once, and each change after that", async () => {
    const { clock, follow, change } = setUp();
    const { told } = follow();
    expect(told).toEqual([1]);
    change();
    expect(told).toEqual([1, 2]);
    await clock.pass(100);
    change();
    expect(told).toEqual([1, 2, 3]);
  });

  test("is told of changes that come within a tenth of a second together, at its end, again and again", async () => {
    const { clock, follow, change } = setUp();
    const { told } = follow();
    change();
    change();
    change();
    await clock.pass(99);
    change();
    expect(told).toEqual([1, 2]);
    await clock.pass(1);
    expect(told).toEqual([1, 2, 5]);
    change();
    expect(told).toEqual([1, 2, 5]);
    await clock.pass(100);
    expect(told).toEqual([1, 2, 5, 6]);
  });

  test("is told each second that nothing has changed, and not more often", async () => {
    const { clock, feed, follow, change } = setUp();
    const { told } = follow();
    feed.refresh();
    expect(told).toEqual([1, 1]);
    await clock.pass(999);
    feed.refresh();
    expect(told).toEqual([1, 1]);
    await clock.pass(1);
    feed.refresh();
    expect(told).toEqual([1, 1, 1]);
    change();
    await clock.pass(100);
    expect(told).toEqual([1, 1, 1, 2]);
    await clock.pass(999);
    feed.refresh();
    expect(told).toEqual([1, 1, 1, 2]);
  });

  test("is told nothing more once it has gone", () => {
    const { follow, change, feed } = setUp();
    const gone = follow();
    const other = follow();
    gone.stop();
    change();
    feed.finish(ended);
    expect([gone.told, other.told]).toEqual([[1], [1, 2, 2, "succeeded"]]);
  });

  test("is told the last status and the outcome at the end, and nothing after it", async () => {
    const { clock, feed, follow, change } = setUp();
    const { told } = follow();
    change();
    change();
    feed.finish(ended);
    expect(told).toEqual([1, 2, 3, "succeeded"]);
    change();
    await clock.pass(2_000);
    feed.refresh();
    expect(told).toEqual([1, 2, 3, "succeeded"]);
  });

  test("is told the status and the outcome where it comes after the end", () => {
    const { feed, follow, change } = setUp();
    change();
    feed.finish(ended);
    expect(follow().told).toEqual([2, "succeeded"]);
  });
});

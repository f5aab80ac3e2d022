import { setImmediate as settled } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { RepeatedOutlet } from "../../../am/notices/outlet.ts";
import type { JobStatus } from "../../../src/job/status.ts";
import { aJobStatus } from "../../client/job-status.ts";
import { deferred } from "../../support/deferred.ts";

class Told extends RepeatedOutlet {
  readonly generations: number[] = [];
  underWay = 0;
  mostAtOnce = 0;
  trouble: string | undefined;
  hold: Promise<void> | undefined;

  protected async tell({ generation }: JobStatus): Promise<void> {
    this.underWay += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.underWay);
    await this.hold;
    this.underWay -= 1;
    if (this.trouble !== undefined) throw new Error(this.trouble);
    this.generations.push(generation);
  }
}

function told() {
  const at = { nowMs: 0 };
  const warned: string[] = [];
  const clock = { nowMs: () => at.nowMs, random: () => 0 };
  const outlet = new Told({ clock, warn: (message) => warned.push(message) }, 15_000);
  return { at, warned, outlet };
}

const status = (generation: number) => aJobStatus({ generation });

test("it tells what is so once in its time, and at the end whatever time it is", async () => {
  const { at, outlet } = told();
  for (const [nowMs, generation] of [
    [0, 1],
    [5_000, 2],
    [15_000, 3],
  ] as const) {
    at.nowMs = nowMs;
    outlet.look(status(generation));
    await settled();
  }
  await outlet.end(status(4));
  expect(outlet.generations).toEqual([1, 3, 4]);
});

test("while a round is under way none begins, and the end waits for it", async () => {
  const { outlet } = told();
  const { promise, resolve: go } = deferred();
  outlet.hold = promise;
  outlet.look(status(1));
  outlet.look(status(2));
  const ended = outlet.end(status(3));
  await settled();
  expect(outlet.generations).toEqual([]);
  go();
  await ended;
  expect([outlet.generations, outlet.mostAtOnce]).toEqual([[1, 3], 1]);
});

test("after a failure it waits, ever longer, and says the same trouble once until all is well again", async () => {
  const { at, warned, outlet } = told();
  outlet.trouble = "MLflow is away";
  const looks = async (...times: readonly number[]) => {
    for (const nowMs of times) {
      at.nowMs = nowMs;
      outlet.look(status(1));
      await settled();
    }
  };
  // Half of 10 s, then half of 20 s.
  await looks(0, 4_000, 5_000, 14_000);
  expect(warned).toEqual(["MLflow is away"]);
  outlet.trouble = undefined;
  await looks(14_500, 15_000);
  expect(outlet.generations).toEqual([1]);
  outlet.trouble = "MLflow is away";
  await looks(30_000);
  expect(warned).toEqual(["MLflow is away", "MLflow is away"]);
  outlet.trouble = undefined;
  await looks(35_000);
  expect(outlet.generations).toEqual([1, 1]);
});

test("of one that has not answered when nobody waits any longer that is said", () => {
  const { warned, outlet } = told();
  outlet.giveUp();
  expect(warned).toEqual(["it has not answered by the job's end"]);
});

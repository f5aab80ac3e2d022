import { describe, expect, test } from "@jest/globals";
import { createLiveness, type LivenessEvent } from "../../../../am/core/executors/liveness.ts";

const timeouts = { heartbeatIntervalMs: 1_000, heartbeatExpiryMs: 10_000 };

/** Ticks each second while `beating` executors are heard. */
function watch(executors: number, beating: (index: number) => boolean, seconds: number) {
  const liveness = createLiveness(timeouts);
  for (let index = 0; index < executors; index++) {
    liveness.heard(`worker:${index}`, `c${index}`, 0);
  }
  const events: string[] = [];
  for (let second = 1; second <= seconds; second++) {
    for (let index = 0; index < executors; index++) {
      if (beating(index)) {
        liveness.heard(`worker:${index}`, `c${index}`, second * 1000);
      }
    }
    events.push(...liveness.tick(second * 1000).map((event) => `${second} ${wordsOf(event)}`));
  }
  return { liveness, events };
}

function wordsOf(event: LivenessEvent): string {
  return `${event.type} ${event.task}`;
}

describe("liveness", () => {
  test("reports a frozen executor as silent after three missed beats, and only once", () => {
    const { events } = watch(4, (index) => index !== 2, 30);
    expect(events).toEqual(["3 executor-silent worker:2"]);
  });

  test("reports no executor before its expiry is over, where that is shorter than three beats", () => {
    const liveness = createLiveness({ heartbeatIntervalMs: 5_000, heartbeatExpiryMs: 10_000 });
    liveness.heard("worker:0", "c0", 0);
    const silent = Array.from({ length: 10 }, (_, second) => liveness.tick(second * 1_000 + 1_000).map(wordsOf));
    expect(silent.findIndex((events) => events.includes("executor-silent worker:0"))).toBe(9);
  });

  test("does not report an executor that was heard long before the watch began", () => {
    const liveness = createLiveness(timeouts);
    liveness.heard("worker:0", "c0", 1_000);
    liveness.begin(30_000);
    expect(liveness.tick(30_000)).toEqual([]);
    expect(liveness.tick(30_250)).toEqual([]);
  });

  test("reports an executor that is heard again as back", () => {
    const { liveness } = watch(3, (index) => index !== 0, 5);
    expect(liveness.heard("worker:0", "c0", 5_500)).toEqual([
      { type: "executor-back", task: "worker:0", containerId: "c0" },
    ]);
  });

  test("is back once, and silent again when it is not heard again", () => {
    const { liveness } = watch(1, () => false, 5);
    expect(liveness.heard("worker:0", "c0", 5_500).map(wordsOf)).toEqual(["executor-back worker:0"]);
    expect(liveness.heard("worker:0", "c0", 6_000)).toEqual([]);
    expect(liveness.tick(8_999)).toEqual([]);
    expect(liveness.tick(9_000).map(wordsOf)).toEqual(["executor-silent worker:0"]);
  });

  test("nobody is silent when we ourselves stood still", () => {
    const { liveness } = watch(3, () => true, 2);
    liveness.stoodStill(60_000, 62_000);
    expect(liveness.tick(62_000)).toEqual([]);
    expect(liveness.tick(64_000)).toEqual([]);
    expect(liveness.tick(65_000).map(({ type }) => type)).toEqual([
      "executor-silent",
      "executor-silent",
      "executor-silent",
    ]);
  });

  test("gives an executor whose last message is read before the tick that shows our pause no more time than the others", () => {
    const { liveness } = watch(2, () => true, 2);
    liveness.heard("worker:0", "c0", 62_000);
    liveness.stoodStill(60_010, 62_010);
    expect(liveness.tick(62_010)).toEqual([]);
    const silent = [65_000, 65_010].map((nowMs) => liveness.tick(nowMs).map(wordsOf));
    expect(silent).toEqual([[], ["executor-silent worker:0", "executor-silent worker:1"]]);
  });

  test("does not watch an executor that was given up", () => {
    const { liveness } = watch(3, () => true, 1);
    liveness.forget("c1");
    const events = [2, 3, 4].flatMap((second) => liveness.tick(second * 1000).map(wordsOf));
    expect(events).toEqual(["executor-silent worker:0", "executor-silent worker:2"]);
  });
});

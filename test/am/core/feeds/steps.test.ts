import { describe, expect, test } from "@jest/globals";
import type { Uneven } from "../../../../src/job/feeds/feed-spec.ts";
import { evenFeed, problemsOfSteps, StepsScene } from "./steps-world.ts";

const agreed = (steps: number, last = false) => ({ type: "agreed", steps, last });

describe("tasks that make the same number of steps", () => {
  test("are told how many steps all of them have rows for, and wait for more", () => {
    const scene = new StepsScene(evenFeed("drop"));
    const first = scene.steps("a", 5);
    expect(scene.answers.get(first)).toBeUndefined();
    const second = scene.steps("b", 3);
    expect([first, second].map((id) => scene.answers.get(id))).toEqual([agreed(3), agreed(3)]);
    const more = scene.steps("a", 9, { known: 3 });
    expect(scene.answers.get(more)).toBeUndefined();
    expect(scene.answers.get(scene.steps("b", 7, { known: 3 }))).toEqual(agreed(7));
    expect(scene.answers.get(more)).toEqual(agreed(7));
  });

  test("are told at once what another task was told, even by a later attempt, because the answer is on its way there", () => {
    const scene = new StepsScene(evenFeed("drop"));
    scene.steps("a", 5);
    scene.steps("b", 5);
    scene.restart();
    expect(scene.answers.get(scene.steps("b", 5))).toEqual(agreed(5));
    expect(scene.answers.get(scene.steps("a", 5, { known: 5, dry: true }))).toBeUndefined();
    expect(scene.answers.get(scene.steps("b", 8, { known: 5 }))).toEqual(agreed(5, true));
    scene.restart();
    expect(scene.answers.get(scene.steps("a", 5, { known: 5, dry: true }))).toEqual(agreed(5, true));
  });

  test("make with drop as many as the task that gets no more rows", () => {
    const scene = new StepsScene(evenFeed("drop"));
    const waits = scene.steps("a", 4, { dry: true });
    expect(scene.answers.get(scene.steps("b", 9))).toEqual(agreed(4, true));
    expect(scene.answers.get(waits)).toEqual(agreed(4, true));
    // Nobody makes steps with what is still free of the epoch.
    expect(scene.answers.get(scene.asks("a"))).toMatchObject({ splits: [{ epoch: 1, position: 0 }] });
  });

  test("go on with drop as long as the task that gets no more rows has some", () => {
    const scene = new StepsScene(evenFeed("drop"));
    const waits = scene.steps("a", 5, { dry: true });
    expect(scene.answers.get(scene.steps("b", 3))).toEqual(agreed(3));
    expect(scene.answers.get(waits)).toEqual(agreed(3));
    scene.steps("a", 5, { known: 3, dry: true });
    expect(scene.answers.get(scene.steps("b", 8, { known: 3 }))).toEqual(agreed(5, true));
  });

  test("make with pad as many as the task with the most rows", () => {
    const scene = new StepsScene(evenFeed("pad"));
    const waits = scene.steps("a", 4, { dry: true });
    expect(scene.answers.get(scene.steps("b", 6))).toEqual(agreed(6));
    expect(scene.answers.get(waits)).toEqual(agreed(6));
    scene.steps("a", 4, { known: 6, dry: true });
    expect(scene.answers.get(scene.steps("b", 8, { known: 6, dry: true }))).toEqual(agreed(8, true));
  });

  test("stop together, and leave the rest unused", () => {
    const scene = new StepsScene(evenFeed("stop-together"));
    scene.steps("a", 4, { dry: true });
    expect(scene.answers.get(scene.steps("b", 9))).toEqual(agreed(4, true));
    expect(scene.state.used).toEqual([]);
  });

  test("are told that an epoch has nothing more, and begin the next one when all have said how many steps it has", () => {
    const scene = new StepsScene(evenFeed("pad", 1));
    const [split] = [scene.answers.get(scene.asks("a"))].flatMap((one) => (one?.type === "given" ? one.splits : []));
    expect(scene.answers.get(scene.asks("b"))).toEqual({ type: "given", splits: [] });
    if (split === undefined) throw new Error("there is no split");
    scene.used("a", split);
    expect(scene.answers.get(scene.asks("a"))).toEqual({ type: "given", splits: [] });
    scene.steps("a", 2, { dry: true });
    scene.steps("b", 0, { dry: true });
    expect(scene.answers.get(scene.asks("b"))).toMatchObject({ splits: [{ epoch: 1, position: 0 }] });
    expect(scene.answers.get(scene.steps("a", 0, { epoch: 2 }))).toEqual(agreed(0, true));
  });

  test("do not wait for a task that has ended well, and lose nothing while they wait", () => {
    const scene = new StepsScene(evenFeed("drop"));
    scene.asks("a");
    const waits = scene.steps("a", 4);
    scene.nowMs = 60_000;
    scene.send({ type: "wake-up" });
    expect(Object.keys(scene.state.leases)).toEqual(["0"]);
    scene.send({ type: "life-ended", task: "b", generation: 1, how: "succeeded" });
    expect(scene.answers.get(waits)).toEqual(agreed(4));
    scene.nowMs = 62_000;
    scene.send({ type: "wake-up" });
    expect(Object.keys(scene.state.leases)).toEqual(["0"]);
  });

  test("wait for a later life of a task that is gone, whatever the earlier one had said", () => {
    const scene = new StepsScene(evenFeed("drop"));
    const gone = scene.steps("a", 4);
    scene.send({ type: "life-ended", task: "a", generation: 1, how: "gone" });
    expect(scene.answers.get(gone)).toMatchObject({ code: "replaced" });
    const waits = scene.steps("b", 3);
    expect(scene.answers.get(waits)).toBeUndefined();
    scene.call("a", (caller) => ({ ...caller, type: "open", gang: 1, origin: "start" }));
    expect(scene.answers.get(scene.steps("a", 2))).toEqual(agreed(2));
    expect(scene.answers.get(waits)).toEqual(agreed(2));
  });

  test("begin their next generation like their first one, wherever that had come to", () => {
    const scene = new StepsScene(evenFeed("drop"));
    const { generation: _, version: _version, journal: _journal, ...first } = structuredClone(scene.state);
    const given = ["a", "b"].map((task) => scene.answers.get(scene.asks(task)));
    const [split] = given.flatMap((one) => (one?.type === "given" ? one.splits : []));
    if (split !== undefined) scene.used("a", split);
    for (const task of ["a", "b"]) {
      scene.steps(task, 5);
      scene.call(task, (caller) => ({ ...caller, type: "mark", label: "m", among: ["a", "b"], begun: [] }));
    }
    scene.steps("a", 9, { known: 5 });
    expect(scene.state).toMatchObject({
      agreed: { steps: 5 },
      ahead: {},
      taken: { label: "m" },
      hands: { b: [1] },
      used: [0, 1],
    });
    for (const task of ["a", "b"])
      scene.call(task, (caller) => ({ ...caller, type: "open", gang: 2, origin: "start" }));
    expect(scene.state).toMatchObject({ generation: 2 });
    const { generation: _next, version: _changed, journal: _written, wakeAtMs: _asked, ...second } = scene.state;
    expect({ ...second, lastLease: 0 }).toEqual(first);
  });

  test("are refused a step that is not of this epoch, and the earlier of two same calls", () => {
    const scene = new StepsScene(evenFeed("drop"));
    expect(scene.answers.get(scene.steps("a", 1, { epoch: 1 }))).toMatchObject({ code: "invalid" });
    const before = scene.steps("a", 1);
    scene.steps("a", 1);
    expect(scene.answers.get(before)).toMatchObject({ code: "replaced" });
    const gone = scene.steps("a", 1);
    scene.send({ type: "gone", id: gone });
    scene.steps("b", 1);
    expect(scene.answers.get(gone)).toMatchObject({ code: "replaced" });
    const none = new StepsScene(evenFeed());
    expect(none.answers.get(none.steps("a", 1))).toMatchObject({
      message: "tony.feed.train.uneven is not set",
    });
  });
});

describe("uneven splits under faults", () => {
  test.each<Uneven>(["drop", "pad"])("with %s leave no task waiting for another", (uneven) => {
    for (let seed = 1; seed <= 150; seed += 1) expect([seed, problemsOfSteps(seed, uneven)]).toEqual([seed, []]);
  });
});

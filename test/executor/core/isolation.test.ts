import { beforeEach, describe, expect, it } from "@jest/globals";
import { createExecutorCore, type ExecutorCore, executorCoreOf } from "../../../executor/core/core.ts";
import type { Event } from "../../../executor/core/events.ts";
import { suspendedMs } from "../../../executor/core/isolation.ts";
import type { MasterCommand } from "../../../src/api/messages.ts";

const LIMITS = { orphanMs: 780_000, isolationMs: 30_000 };
const MASTER = { attempt: 1, address: "node-1:4000" };

/** The core of an executor, connected where it is told to be, that runs the program of generation 1. */
class Scene {
  core: ExecutorCore = createExecutorCore(MASTER, LIMITS);
  nowMs = 0;
  /** What it had done, but for lines of the log and for connections. */
  done: string[] = [];

  post(event: Event): void {
    // A core that is stored and read again decides the same.
    this.core = executorCoreOf(JSON.parse(JSON.stringify(this.core.state)));
    for (const effect of this.core.step(event, { nowMs: this.nowMs, random: 0.5 })) {
      if (effect.type === "suspend" || effect.type === "resume") this.done.push(`${effect.type} ${effect.generation}`);
      if (["hold-uploads", "allow-uploads", "register", "look", "obey"].includes(effect.type))
        this.done.push(effect.type);
    }
  }

  pass(durationMs: number): void {
    const untilMs = this.nowMs + durationMs;
    for (let dueMs = this.core.wakeAtMs; dueMs !== undefined && dueMs <= untilMs; dueMs = this.core.wakeAtMs) {
      this.nowMs = dueMs;
      this.post({ type: "woken" });
    }
    this.nowMs = untilMs;
  }

  hear(body: MasterCommand, generation = 1): void {
    const { active, trying } = this.core.state.link;
    const connection = (body.type === "welcome" ? trying : active)?.id ?? 0;
    this.post({ type: "message", connection, generation: 1, message: { attempt: 1, generation, body } });
  }

  welcome(): void {
    const hello = { protocol: 1, build: "test" };
    const none = new Uint8Array();
    this.hear({ type: "welcome", hello, heartbeatIntervalMs: 1_000, job: none, attemptProof: none });
  }

  /** Nobody is reached for so long that the program is suspended; what was done until then is left out. */
  isolate(): void {
    this.post({ type: "begun" });
    this.post({ type: "program-started", generation: 1 });
    this.pass(14_999);
    this.done = [];
    this.pass(1);
  }

  suspended(generation = 1): number {
    return suspendedMs(this.core.state, generation, this.nowMs);
  }

  /** Without what the search for an ApplicationMaster does meanwhile. */
  get ofPrograms(): readonly string[] {
    return this.done.filter((one) => one !== "register" && one !== "look");
  }
}

describe("an executor that reaches nobody", () => {
  let scene: Scene;
  beforeEach(() => {
    scene = new Scene();
    scene.isolate();
  });

  it("brings nothing up when it is told that another container has its task", () => {
    scene.welcome();
    scene.hear({ type: "exit", graceMs: 0, reason: { code: "replaced", why: "it lives elsewhere" } });
    expect(scene.ofPrograms).toEqual(["hold-uploads", "suspend 1", "obey"]);
  });

  it("suspends its program, brings nothing up, and registers that again", () => {
    expect(scene.done).toEqual(["hold-uploads", "suspend 1", "register"]);
    expect(scene.core.state.isolation.phase).toBe("isolated");
  });

  it("suspends a program that is started meanwhile", () => {
    scene.post({ type: "program-started", generation: 2 });
    expect(scene.done.at(-1)).toBe("suspend 2");
  });

  it("brings files up again at the first order, and leaves the program to an order of its own", () => {
    scene.welcome();
    scene.done = [];
    scene.hear({ type: "tell-place" });
    expect(scene.ofPrograms).toEqual(["allow-uploads", "obey"]);
    expect(scene.suspended()).toBeGreaterThan(0);
  });

  it("takes a request for a log for no order about the task", () => {
    scene.welcome();
    scene.done = [];
    scene.hear({ type: "tail-credit", tailId: 1, bytes: 1 });
    expect(scene.ofPrograms).toEqual(["obey"]);
  });

  it("goes on when the journal allows it, and the ApplicationMaster is still to hear how long it was suspended", () => {
    scene.pass(10_000);
    scene.done = [];
    scene.post({ type: "looked", absence: scene.core.state.absences, news: { isReplaced: false } });
    expect(scene.ofPrograms).toEqual(["allow-uploads", "resume 1"]);
    scene.nowMs += 5_000;
    expect(scene.suspended()).toBe(10_000);
  });

  it("goes on when the ApplicationMaster, which has heard of the suspension, wants it", () => {
    scene.welcome();
    scene.done = [];
    scene.hear({ type: "resume-child" });
    expect(scene.ofPrograms).toEqual(["allow-uploads", "resume 1"]);
    expect(scene.suspended()).toBe(0);
  });

  it("suspends nothing that is started after that", () => {
    scene.welcome();
    scene.hear({ type: "resume-child" });
    scene.done = [];
    scene.post({ type: "program-started", generation: 2 });
    expect(scene.done).toEqual([]);
  });

  it("leaves the next program alone where one ended while it was suspended, and tells how long that was", () => {
    scene.pass(2_000);
    scene.post({ type: "program-ended", generation: 1 });
    scene.pass(1_000);
    expect(scene.suspended()).toBe(2_000);
    scene.welcome();
    scene.hear({ type: "prepare", reason: "a task failed" }, 2);
    scene.done = [];
    scene.post({ type: "program-started", generation: 2 });
    scene.post({ type: "looked", absence: scene.core.state.absences, news: { isReplaced: false } });
    expect(scene.ofPrograms).toEqual([]);
    expect(scene.suspended(2)).toBe(0);
  });

  it("suspends no program that has ended", () => {
    scene = new Scene();
    scene.post({ type: "begun" });
    scene.post({ type: "program-started", generation: 1 });
    scene.post({ type: "program-ended", generation: 1 });
    scene.pass(15_000);
    expect(scene.core.state.isolation.phase).toBe("isolated");
    expect(scene.ofPrograms).toEqual(["hold-uploads"]);
    expect(scene.suspended()).toBe(0);
  });

  it("obeys nothing once it ends", () => {
    scene.welcome();
    scene.post({ type: "ending" });
    scene.done = [];
    scene.hear({ type: "resume-child" });
    expect(scene.done).toEqual([]);
  });
});

describe("the suspensions of a program", () => {
  it("add up until the ApplicationMaster knows of them; one that has just begun is one", () => {
    const scene = new Scene();
    scene.isolate();
    expect(scene.suspended()).toBe(1);
    scene.pass(10_000);
    scene.post({ type: "looked", absence: scene.core.state.absences, news: { isReplaced: false } });
    expect(scene.suspended()).toBe(10_000);
    scene.pass(60_000);
    const again = scene.core.state.programs[0]?.suspendedAtMs ?? 0;
    expect(again).toBeGreaterThan(25_000);
    expect(scene.suspended()).toBe(10_000 + scene.nowMs - again);
  });

  it("keeps of the programs that have ended the last one, until the next one starts", () => {
    const scene = new Scene();
    for (const generation of [1, 2, 3]) {
      scene.post({ type: "program-started", generation });
      scene.post({ type: "program-ended", generation });
      expect(scene.core.state.programs.map((program) => program.generation)).toEqual([generation]);
    }
  });
});

import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { ExecutorEnd } from "../../executor/executor-end.ts";
import { ExecutorExit } from "../../executor/exit-codes.ts";
import type { StopOrder } from "../../executor/program/program.ts";
import { NEXT_EXECUTOR } from "../../src/job/launch/container-names.ts";
import { executorVariable } from "../../src/job/launch/launch-command.ts";
import { eventually } from "../support/eventually.ts";
import { silentLog } from "../support/silent-log.ts";

const never = new Promise<void>(() => {});

/** `hangs`, `fails`: the steps that do. */
function endOf({ hangs = "", fails = "", carries = true } = {}) {
  const steps: string[] = [];
  /** The orders to stop, and what is said as uploads are given up and in goodbyes. */
  const orders: StopOrder[] = [];
  const words: string[] = [];
  const step = (name: string): Promise<void> => {
    steps.push(name);
    const [what = ""] = name.split(":");
    if (hangs === what) return never;
    return fails === what ? Promise.reject(new Error("no DataNode answers")) : Promise.resolve();
  };
  let obeys = true;
  const end = new ExecutorEnd({
    generations: {
      current: { kill: () => void step("kill"), reportKilled: () => void step("report") },
      kill: () => void step("kill: replaced"),
      stop: (order) => {
        orders.push(order);
        return step(`stop: ${order.graceMs}`);
      },
    },
    carrier: () =>
      carries
        ? {
            giveUp: (why) => {
              words.push(why);
              void step("give up");
            },
            settle: ({ last }) => step(last ? "bring up" : "go on"),
          }
        : undefined,
    reports: { left: () => void step("reports") },
    tails: { finish: () => void step("tails") },
    link: () => ({
      connected: () => step("connected"),
      close: (why) => {
        words.push(why);
        return step("goodbye");
      },
      endingBegins: () => {
        obeys = false;
      },
    }),
    graceMs: () => 10_000,
    containerTokens: { putBack: () => step("tokens") },
    workFolder: { restore: () => step("work folder") },
    log: silentLog,
    end: (code) => void steps.push(`exit ${code}`),
  });
  return { end, steps, orders, words, obeys: () => obeys };
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test("the program ends first, what it saved is brought up, and then the executor says goodbye", async () => {
  const { end, steps, orders, words, obeys } = endOf();
  end.finish(ExecutorExit.ordered, { code: "job-ended" });
  await jest.advanceTimersByTimeAsync(0);
  expect(steps).toEqual([
    "stop: 10000",
    "bring up",
    "connected",
    "reports",
    "tails",
    "goodbye",
    `exit ${ExecutorExit.ordered}`,
  ]);
  expect([orders, words]).toEqual([[{ graceMs: 10_000, reason: { code: "job-ended" } }], ["the job ends"]]);
  expect(obeys()).toBe(false);
  const urgent = endOf();
  urgent.end.finish(ExecutorExit.ordered, { code: "job-ended" }, 5);
  expect(urgent.steps).toEqual(["stop: 5"]);
});

test("a goodbye that nobody takes delays the exit for a second; what it ends of first is what it exits with", async () => {
  const { end, steps } = endOf({ hangs: "goodbye" });
  end.finish(ExecutorExit.orphaned, { code: "orphaned", silentMs: 1 });
  end.finish(ExecutorExit.ordered, { code: "refused", why: "not yours" });
  await jest.advanceTimersByTimeAsync(900);
  expect(steps.at(-1)).toBe("goodbye");
  await jest.advanceTimersByTimeAsync(100);
  expect(steps.slice(-2)).toEqual(["goodbye", `exit ${ExecutorExit.orphaned}`]);
});

test("where uploads ended while the stream was broken, the next one is awaited to tell so, for half a minute", async () => {
  const { end, steps } = endOf({ hangs: "connected" });
  end.finish(ExecutorExit.ordered, { code: "job-ended" });
  await jest.advanceTimersByTimeAsync(29_900);
  expect(steps.at(-1)).toBe("connected");
  await jest.advanceTimersByTimeAsync(100);
  expect(steps.at(-1)).toBe(`exit ${ExecutorExit.ordered}`);

  const nothing = endOf({ hangs: "connected", carries: false });
  nothing.end.finish(ExecutorExit.ordered, { code: "job-ended" });
  const orphaned = endOf({ hangs: "connected" });
  orphaned.end.finish(ExecutorExit.orphaned, { code: "orphaned", silentMs: 1 });
  await jest.advanceTimersByTimeAsync(0);
  expect(nothing.steps.at(-1)).toBe(`exit ${ExecutorExit.ordered}`);
  expect(orphaned.steps.at(-1)).toBe(`exit ${ExecutorExit.orphaned}`);
});

test("its container is for the next executor when the program's last word is told: as this one found it, with its orders in a file", async () => {
  jest.useRealTimers();
  const [folder, before] = [mkdtempSync(path.join(tmpdir(), "tony-executor-end-")), process.cwd()];
  process.chdir(folder);
  const { end, steps, obeys } = endOf();
  end.makeRoom({ [executorVariable.task]: "trainer:0" });
  expect(obeys()).toBe(false);
  await eventually("it has ended", () => steps.at(-1)?.startsWith("exit") === true);
  process.chdir(before);
  expect(steps).toEqual([
    ...["stop: 10000", "bring up", "connected", "reports", "tails", "goodbye", "work folder", "tokens"],
    `exit ${ExecutorExit.roomMade}`,
  ]);
  const orders = path.join(folder, NEXT_EXECUTOR);
  expect(readFileSync(orders, "utf8")).toContain("trainer:0");
  expect(statSync(orders).mode & 0o777).toBe(0o600);
  rmSync(folder, { recursive: true });
});

test("one that was replaced writes nothing more to the folders that its task's other executor uses", async () => {
  const { end, steps, words } = endOf();
  end.replaced(ExecutorExit.replaced, { code: "replaced", why: "its task lives elsewhere" });
  await jest.advanceTimersByTimeAsync(0);
  expect(words).toEqual(Array(2).fill(expect.stringContaining("its task lives elsewhere")));
  expect(steps.slice(0, 3)).toEqual(["give up", "kill: replaced", "stop: 0"]);
  expect(steps.at(-1)).toBe(`exit ${ExecutorExit.replaced}`);
});

test("at SIGTERM everything ends before the NodeManager's SIGKILL, whatever hangs", async () => {
  const { end, steps } = endOf({ hangs: "bring up" });
  const terminated = end.terminate();
  await jest.advanceTimersByTimeAsync(139);
  expect(steps).toEqual(["stop: 100", "bring up"]);
  await jest.advanceTimersByTimeAsync(1);
  await terminated;
  expect(steps.slice(-4)).toEqual(["report", "kill", "goodbye", `exit ${ExecutorExit.terminated}`]);
});

test("at SIGTERM the program's group has had the signal, and a goodbye that nobody takes delays the exit no more", async () => {
  const { end, steps, orders } = endOf({ hangs: "goodbye" });
  const terminated = end.terminate();
  await jest.advanceTimersByTimeAsync(140);
  while (!steps.includes("kill")) await jest.advanceTimersByTimeAsync(0);
  await jest.advanceTimersByTimeAsync(59);
  expect(orders).toEqual([{ graceMs: 100, reason: { code: "container-terminated" }, groupTold: true }]);
  expect(steps.at(-1)).toBe("goodbye");
  await jest.advanceTimersByTimeAsync(1);
  await terminated;
  expect(steps.slice(-4)).toEqual(["report", "kill", "goodbye", `exit ${ExecutorExit.terminated}`]);
});

test("at SIGTERM a program that ends at once tells its own end, and one goodbye is said", async () => {
  const { end, steps, obeys } = endOf();
  await end.terminate();
  expect(steps).toEqual([
    "stop: 100",
    "bring up",
    "reports",
    "tails",
    "goodbye",
    "kill",
    `exit ${ExecutorExit.terminated}`,
  ]);
  expect(obeys()).toBe(false);
});

describe("an executor that cannot end in order exits as one that failed", () => {
  test.each(["stop", "bring up"])("%s", async (fails) => {
    const { end, steps } = endOf({ fails });
    end.finish(ExecutorExit.ordered, { code: "refused", why: "not yours" });
    await jest.advanceTimersByTimeAsync(0);
    expect(steps.at(-1)).toBe(`exit ${ExecutorExit.failed}`);
  });

  test.each(["stop", "work folder", "tokens"])("also for another task: %s", async (fails) => {
    const said = jest.spyOn(process.stderr, "write").mockReturnValue(true);
    const { end, steps } = endOf({ fails });
    end.makeRoom({ [executorVariable.task]: "trainer:0" });
    await jest.advanceTimersByTimeAsync(0);
    expect(steps.slice(-2)).toEqual([expect.stringContaining(fails), `exit ${ExecutorExit.failed}`]);
    expect(said.mock.calls).toEqual([["tony-ts: no DataNode answers\n"]]);
    said.mockRestore();
  });
});

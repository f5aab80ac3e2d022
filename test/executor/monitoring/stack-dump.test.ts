import { expect, test } from "@jest/globals";
import { requestStacks } from "../../../executor/monitoring/stack-dump.ts";

/** Processes by their numbers: what they run, and the signals that they have handlers for. */
const PROCESSES: Readonly<Record<number, readonly [program: string, ...handled: readonly string[]]>> = {
  1: ["bash", "SIGABRT", "SIGUSR1"],
  2: ["python3.11"],
  3: ["python3.11", "SIGUSR1", "SIGABRT"],
  4: ["python", "SIGUSR1"],
  5: ["ipython", "SIGABRT"],
};

/** Asks those; the one that has ended meanwhile cannot be signalled. */
function ask(pids: readonly number[], { ended = 0, code = "ESRCH" } = {}) {
  const sent: string[] = [];
  const members = pids.map((pid) => ({
    ...{ pid, parent: 1, group: 1, state: "S", cpuTicks: 0, reapedTicks: 0, startTicks: 1, residentPages: 1 },
  }));
  const procFs = {
    executable: (pid: number) => PROCESSES[pid]?.[0] ?? "",
    catches: (pid: number, signal: NodeJS.Signals | number) =>
      PROCESSES[pid]?.slice(1).includes(String(signal)) === true,
  };
  const asked = requestStacks(members, procFs, (pid, signal) => {
    if (pid === ended) throw Object.assign(new Error("kill"), { code });
    sent.push(`${signal} ${pid}`);
  });
  return { asked, sent };
}

test("every Python that has a handler is asked for its stacks, by SIGABRT if it can be, and nothing else is", () => {
  expect(ask([1, 2, 3, 4, 5])).toEqual({ asked: true, sent: ["SIGABRT 3", "SIGUSR1 4"] });
});

test("none was asked where no Python has a handler, or the only one that has has ended", () => {
  expect(ask([1, 2, 5])).toEqual({ asked: false, sent: [] });
  expect(ask([3], { ended: 3 })).toEqual({ asked: false, sent: [] });
  expect(ask([3, 4], { ended: 3 })).toEqual({ asked: true, sent: ["SIGUSR1 4"] });
});

test("a signal that may not be sent is an error", () => {
  expect(() => ask([3], { ended: 3, code: "EPERM" })).toThrow("kill");
});

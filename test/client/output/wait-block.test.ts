import { describe, expect, test } from "@jest/globals";
import { hintLines, managerWait, waitBlock, waitingLines } from "../../../client/output/wait-block.ts";
import { endedBecause } from "../../../src/job/outcome.ts";
import type { JobStatus } from "../../../src/job/status.ts";
import { waitOf } from "../../../src/job/wait.ts";
import { aJobStatus, noonishMs, role } from "../job-status.ts";

const waiting = aJobStatus({
  state: "gathering",
  roles: [
    { ...role("worker", 4), allocated: 2, registered: 0, nodeLabel: "gpu" },
    { ...role("ps", 1), registered: 1 },
  ],
  tasks: [{ task: "ps:0", state: "registered", host: "127.0.0.11", port: 38211, restarts: 0 }],
  waits: [
    {
      ...waitOf({ reason: { code: "executors", role: "worker", tasks: ["worker:0"] }, sinceMs: noonishMs - 12_000 }),
      cause: "containers of worker",
      what: "2 of 4 containers of worker",
      reasons: ["label gpu has 1 node, both its GPUs are in use"],
      remedy: "lower tony.worker.instances (job.xml:14)",
    },
  ],
});

describe("a wait", () => {
  test("shows every role, the reason, the remedy and how to leave", () => {
    expect(waitBlock(waiting, "bert · queue ml", noonishMs + 60_000)?.lines).toEqual([
      "bert · queue ml",
      "  worker    2 of 4 allocated    4 GiB, 2 cores, 1 GPU · label gpu",
      "  ps        1 of 1 registered   4 GiB, 2 cores, 1 GPU · 127.0.0.11:38211",
      "  waiting 1 min 12 s for 2 of 4 containers of worker",
      "            why: label gpu has 1 node, both its GPUs are in use",
      "            → lower tony.worker.instances (job.xml:14)",
      "  Ctrl-C ends the job · close the terminal and it runs on: tony-ts status application_1795305600000_0009",
    ]);
  });

  test("is one line in a pipe, whose change leaves the time out", () => {
    const early = waitBlock(waiting, "", noonishMs);
    const late = waitBlock(waiting, "", noonishMs + 60_000);
    expect(late).toMatchObject({
      cause: "containers of worker",
      change: "2 of 4 containers of worker (worker 2 of 4 allocated, ps 1 of 1 registered)",
      line: "waiting 1 min 12 s for 2 of 4 containers of worker (worker 2 of 4 allocated, ps 1 of 1 registered)",
      facts: ["label gpu has 1 node, both its GPUs are in use"],
      remedy: "lower tony.worker.instances (job.xml:14)",
    });
    expect(late?.change).toBe(early?.change);
  });

  test("says what happens when its time is up, on a terminal and in a pipe", () => {
    const setting = { key: "tony.container.hold-timeout" };
    const gang = waitOf({ reason: { code: "gang", setting }, sinceMs: noonishMs, endsAtMs: noonishMs + 60_000 });
    const block = waitBlock(aJobStatus({ roles: [], waits: [gang] }), "", noonishMs + 3_000);
    expect(block?.lines.slice(1, -1)).toEqual([
      "  waiting 3 s for the rest of the gang",
      "            at 14:01:00 its containers are returned and requested again, so that another job can go on (tony.container.hold-timeout)",
    ]);
    expect(block).toMatchObject({
      facts: [],
      until:
        "at 14:01:00 its containers are returned and requested again, so that another job can go on (tony.container.hold-timeout)",
    });
  });

  test("of a job that ends tells how to leave it only whoever asked for that", () => {
    const wait = waitOf({ reason: { code: "programs-end", uploads: false }, sinceMs: noonishMs });
    const outcome = { ...endedBecause("killed", { code: "stop-requested", words: "" }), endedAtMs: noonishMs };
    const ending = aJobStatus({ roles: [], waits: [wait], outcome });
    const shown = (status: JobStatus, asked: boolean) =>
      waitBlock(status, "", noonishMs + 3_000, { ending: asked })?.lines.slice(1);
    const waits = "  waiting 3 s for the programs to stop";
    expect(shown(ending, false)).toEqual([waits]);
    expect(shown(ending, true)).toEqual([
      waits,
      "  Ctrl-C again leaves it to end by itself: tony-ts status application_1795305600000_0009",
    ]);
    expect(shown(aJobStatus({ roles: [], waits: [wait] }), true)).toEqual([waits, "  Ctrl-C again leaves at once"]);
  });

  test("that is over at once is not shown", () => {
    expect(waitBlock(waiting, "", noonishMs - 11_000)).toBeUndefined();
  });

  test("is worth a look when it has lasted for a second and a half, unless it is to be shown sooner", () => {
    const since = noonishMs - 12_000;
    expect(waitBlock(waiting, "", since + 1_499)).toBeUndefined();
    expect(waitingLines(waiting, since + 1_499)).toEqual([]);
    expect(waitBlock(waiting, "", since + 1_500)?.line).toMatch(/^waiting 1 s for 2 of 4 containers/);
    expect(waitingLines(waiting, since + 1_500)).toHaveLength(5);
    expect(waitBlock(waiting, "", since, { shortestShownMs: 0 })?.line).toMatch(/^waiting 0 s for 2 of 4 containers/);
  });

  test("of several lists those that last, each with all of its reasons and until when at the latest", () => {
    const [first] = waiting.waits;
    if (first === undefined) throw new RangeError("nothing is waited for");
    const wait = (what: string, secondsAgo: number) => ({
      ...{ ...first, what, cause: what, sinceMs: noonishMs - secondsAgo * 1_000, endsAtMs: noonishMs + 90_000 },
      reasons: [`${what} is late`, `${what} is far`],
    });
    const status = aJobStatus({ roles: [], waits: [wait("a", 5), wait("b", 1), wait("c", 3)] });
    const block = waitBlock(status, "head", noonishMs);
    const lines = (what: string, seconds: number) => [
      `  waiting ${seconds} s for ${what}`,
      `            why: ${what} is late`,
      `                 ${what} is far`,
      "            → lower tony.worker.instances (job.xml:14)",
      "            until 14:01:30 at the latest",
    ];
    expect(block?.lines.slice(0, -1)).toEqual(["head", ...lines("a", 5), ...lines("c", 3)]);
    expect(block).toMatchObject({ cause: "a", line: "waiting 5 s for a", facts: ["a is late", "a is far"] });
    // In a pipe its end is told only where something happens then.
    expect(block?.until).toBeUndefined();
  });

  test.each([
    [{ allocated: 1, registered: 1 }, "1 of 4 allocated"],
    [{ registered: 3 }, "3 of 4 registered"],
    [{ registered: 3, running: 1 }, "3 of 4 registered"],
    [{}, "4 of 4 registered"],
    [{ running: 2 }, "2 of 4 running"],
    [{ running: 4 }, "4 running"],
    [{ running: 3, ended: 1 }, "3 running, 1 ended"],
    [{ running: 2, ended: 1 }, "2 of 4 running"],
    [{ ended: 4 }, "0 running, 4 ended"],
  ])("says how far a role has come as a whole: %j", (changes, words) => {
    const status = aJobStatus({ roles: [{ ...role("worker", 4), ...changes }], waits: waiting.waits });
    expect(waitBlock(status, "", noonishMs)?.line).toBe(
      `waiting 12 s for 2 of 4 containers of worker (worker ${words})`,
    );
  });

  test("shows where a role's own tasks listen, of three at most", () => {
    const task = (name: string) => ({ task: name, state: "registered", host: "n1", port: 80, restarts: 0 }) as const;
    const placesOf = (...names: string[]) => {
      const roles = [role("worker", 4), role("workers", 1)];
      const [line = ""] = waitingLines({ ...waiting, roles, tasks: names.map(task) }, noonishMs);
      return line.split(" · ").slice(1).join();
    };
    expect(placesOf("worker:0", "workers:0")).toBe("n1:80");
    expect(placesOf("worker:0", "worker:1", "worker:2")).toBe("n1:80 n1:80 n1:80");
    expect(placesOf("worker:0", "worker:1", "worker:2", "worker:3")).toBe("");
    expect(placesOf("workers:0")).toBe("");
    const unheard = { task: "worker:0", state: "allocated", host: "n1", restarts: 0 } as const;
    const [line] = waitingLines({ ...waiting, roles: [role("worker", 4)], tasks: [unheard] }, noonishMs);
    expect(line).not.toContain("n1");
  });
});

test("who only looks on leaves the job running, and is told how to end it", () => {
  const { applicationId } = waiting;
  expect(hintLines(waiting, { owns: false })).toEqual([
    `  Ctrl-C leaves the job running; to end it: tony-ts kill ${applicationId}`,
  ]);
});

test("a ResourceManager that is silent is one wait however long that lasts, and its reason a fact", () => {
  const [early, late] = [managerWait(5_000, "refused"), managerWait(65_000, "no route")];
  expect(late).toMatchObject({
    lines: ["The ResourceManager has not answered for 1 min 5 s; still trying, the job itself may be fine: no route"],
    facts: ["no route"],
  });
  expect(late.line).not.toContain("no route");
  const cause = "the ResourceManager";
  expect([early, late]).toMatchObject([
    { cause, change: cause },
    { cause, change: cause },
  ]);
});

import { describe, expect, test } from "@jest/globals";
import { failureReport, masterlessReport } from "../../../client/output/report.ts";
import { endedBecause } from "../../../src/job/outcome.ts";
import type { RuleReason } from "../../../src/job/reasons/outcomes.ts";
import type { JobOutcome } from "../../../src/job/status.ts";
import { aJobStatus, noonishMs, outOfMemory } from "../job-status.ts";

/** Longer than until its outcome was known: its programs had to stop. */
const lastedMs = 155_000;

const tasks = [
  { task: "worker:0", state: "failed", host: "127.0.0.11", exit: "1", step: 1840, checkpointStep: 1800 },
  { task: "worker:1", state: "lost", host: "127.0.0.12", exit: "-104" },
  { task: "ps:0", state: "stopped", host: "127.0.0.11", exit: "SIGTERM" },
].map((task) => ({ ...task, restarts: 0, startedAtMs: noonishMs + 5_000, endedAtMs: noonishMs + 131_000 }));

const rule: RuleReason = {
  code: "budget-spent",
  class: "program",
  limit: 2,
  setting: { key: "tony.am.retry-count", at: "job.xml:9" },
};

const failedStatus = aJobStatus({
  state: "failed",
  generation: 2,
  outcome: { ...endedBecause("failed", rule), endedAtMs: noonishMs + 132_000 },
  tasks: tasks as ReturnType<typeof aJobStatus>["tasks"],
  budgets: { program: { used: 1, limit: 1 }, infrastructure: { used: 1, limit: 10 } },
  generations: [
    {
      generation: 1,
      startedAtMs: noonishMs - 60_000,
      endedAtMs: noonishMs,
      endedBy: outOfMemory({ summary: "node 127.0.0.12 lost", class: "infrastructure" }),
    },
    {
      generation: 2,
      startedAtMs: noonishMs,
      endedBy: outOfMemory({ summary: "worker:1 out of memory" }),
      resumedFrom: { path: "hdfs:///ckpt", step: 600, atMs: noonishMs - 40_000 },
    },
  ],
  checkpoint: { path: "hdfs:///user/ada/ckpt/bert", step: 1800, atMs: noonishMs + 120_000 },
});

const outcome: JobOutcome = {
  result: "failed",
  summary: "worker:1 ran out of memory on 127.0.0.12",
  cause: outOfMemory(),
  rule: "program restarts: 2 of 2 used (tony.am.retry-count = 2, job.xml:9)",
  reason: rule,
  endedAtMs: noonishMs + 132_000,
};

function killedBecause(words: string): JobOutcome {
  return { ...endedBecause("killed", { code: "stop-requested", words }), endedAtMs: noonishMs + 1_000 };
}

describe("the report of a search that failed", () => {
  const search = { metric: "loss", direction: "minimize", parameters: ["lr"], command: "" } as const;
  const alike: RuleReason = { code: "trials-failed-alike", trials: 5 };
  const cause = outOfMemory({
    consequences: ["worker:0 exit 1, 0.2 s later (a consequence, not counted)"],
    remedy: "lower it",
  });
  const failed: JobOutcome = { ...outcome, ...endedBecause("failed", alike), rule: "the first 5 failed", cause };
  const trial = (number: number) => ({
    ...({ task: `worker:${number}`, state: "failed", restarts: 0, params: { lr: `0.${number}` } } as const),
    trial: { state: "failed" } as const,
  });
  const report = (changes: Partial<typeof failedStatus>) =>
    failureReport({ ...failedStatus, search, ...changes }, failed, lastedMs);

  test("is about its trials, which have neither generations nor the job's restarts", () => {
    const { checkpoint: _, ...status } = failedStatus;
    expect(failureReport({ ...status, search, tasks: [trial(0), trial(1)] }, failed, lastedMs)).toEqual([
      "FAILED  application_1795305600000_0009  bert · 2 min 35 s",
      "",
      "Root cause   trial:1 ran out of memory on 127.0.0.12, 14:02:11 (container_e01_1795305600000_0009_01_000005, exit -104 OOM)",
      "             → lower it",
      "  | epoch 7 step 1840 loss 0.402",
      '  | File "train.py", line 88, in collate',
      "Then         trial:0 exit 1, 0.2 s later (a consequence, not counted)",
      "Search ended the first 5 failed",
      "",
      "trials: 2 failed",
      "trial   state    loss   lr",
      "0       failed   –      0.0",
      "1       failed   –      0.1",
      "",
      "All containers are returned",
      "  tony-ts logs application_1795305600000_0009 trial:1 | … am     tony-ts status application_1795305600000_0009 --json     exit code 1",
    ]);
  });

  test("has ten trials, and how many more there were", () => {
    const lines = report({ tasks: Array.from({ length: 12 }, (_, number) => trial(number)) });
    const table = lines.slice(lines.findIndex((line) => line.startsWith("trial ")));
    expect(table.indexOf("and 2 more")).toBe(11);
  });

  test("that no task caused names none", () => {
    const { task: _, ...nobodys } = cause;
    const lines = failureReport(
      { ...failedStatus, search, tasks: [trial(0)] },
      { ...failed, cause: nobodys },
      lastedMs,
    );
    expect(lines[2]).toMatch(/^Root cause {3}trial:1 ran out of memory on 127\.0\.0\.12, /);
    expect(lines.at(-1)).toMatch(/^ {2}tony-ts logs \S+ am {5}/);
  });

  test("that began no trial says that it had no containers", () => {
    const task = { task: "worker:0", state: "stopped", restarts: 0 } as const;
    expect(report({ tasks: [task, { ...task, task: "worker:1" }] })).toContain(
      "No task ever had a container: trial:0, trial:1",
    );
  });
});

test("the report of a job that only the ResourceManager knows has the reason, and where its AM's log is", () => {
  const failed = { ...endedBecause("failed", { code: "application-ended", state: "FAILED" }), endedAtMs: 1 };
  expect(masterlessReport({ id: "application_1_0007", name: "bert" }, { ...failed, summary: "no room" })).toEqual([
    "FAILED  application_1_0007  bert",
    "",
    "Reason       no room",
    "",
    "  tony-ts logs application_1_0007 am     tony-ts status application_1_0007 --json     exit code 1",
  ]);
});

describe("the report of a job that failed", () => {
  test("leaves the budgets of a job in stages, which are each stage's own, to the table of generations", () => {
    const generations = failedStatus.generations.map((one) => ({ ...one, roles: ["worker"] }));
    const [headline] = failureReport({ ...failedStatus, generations }, outcome, lastedMs);
    expect(headline).toBe(
      "FAILED  application_1795305600000_0009  bert · 2 min 35 s · generation 2: start 2 of the stage of worker",
    );
  });

  test("says of a stage that is over that it is done, and which start of its stage a generation was", () => {
    const ended = { startedAtMs: noonishMs, endedAtMs: noonishMs + 60_000 };
    const generations = [
      { ...ended, generation: 1, roles: ["prep"] },
      { ...ended, generation: 2, roles: ["worker"], endedBy: outOfMemory() },
    ];
    const lines = failureReport({ ...failedStatus, generations }, outcome, lastedMs);
    expect(lines[0]).toMatch(/ · generation 2: start 1 of the stage of worker$/);
    expect(lines).toContainEqual(expect.stringMatching(/^1 {2}14:00:00 +prep +its tasks are done +– +–$/));
  });

  test("says what the job cost where it has prices", () => {
    const usage = { memoryMiBSeconds: 1024 * 3600, vcoreSeconds: 7200, cost: { amount: 3.25, currency: "EUR" } };
    const lines = failureReport({ ...failedStatus, usage }, outcome, lastedMs);
    expect(lines).toContain("cost 3.3 EUR: 1 GiB·h, 2 core·h");
    expect(failureReport(failedStatus, outcome, lastedMs).join()).not.toContain("cost ");
  });

  test("says in one line which tasks had no container, and that none ever had one only where that is so", () => {
    const none = (task: string) => ({ task, state: "stopped", restarts: 0 }) as const;
    const workers = Array.from({ length: 40 }, (_, index) => none(`worker:${index}`));
    const report = (own: typeof failedStatus.tasks, memoryMiBSeconds = 3_600) =>
      failureReport(
        { ...failedStatus, generations: [], tasks: own, usage: { memoryMiBSeconds, vcoreSeconds: 0 } },
        outcome,
        lastedMs,
      ).filter((line) => /^(\w+:\d|task|and|no task)/i.test(line));
    const all = [...workers, none("ps:0")];
    expect(report(all, 0)).toEqual(["No task ever had a container: worker:0 to worker:39, ps:0"]);
    expect(report(all)).toEqual(["No task had a container at the end: worker:0 to worker:39, ps:0"]);
    const [first, ...others] = workers.slice(0, 3);
    expect(first).toBeDefined();
    const one = { task: "worker:0", state: "stopped", host: "127.0.0.11", containerId: "c", restarts: 0 } as const;
    expect(report([one, ...others])).toEqual([
      expect.stringMatching(/^task /),
      expect.stringMatching(/^worker:0 +stopped/),
      "worker:1, worker:2 had no container at the end",
    ]);
  });

  test("names no root cause where a task only left before the others, and where to read of the one that failed", () => {
    const reason = { code: "program-ended-early", task: "worker:1", host: "n2", ranForMs: 3000 } as const;
    const followed = [
      {
        reason: {
          code: "program-exited",
          task: "worker:0",
          host: "n1",
          exitCode: 1,
          error: "ConnectionResetError: s3",
        },
        relation: "possible-consequence",
        laterMs: 200,
      },
    ] as const;
    const cause = { class: "program", reason, summary: "worker:1 ended with 0", atMs: 0, lines: [], followed } as const;
    const report = failureReport(failedStatus, { ...outcome, cause: { ...cause, consequences: [] } }, lastedMs);
    expect(report.join("\n")).toMatch(/^Likely cause worker:1 ended with 0/m);
    expect(report.at(-1)).toMatch(/^ {2}tony-ts logs \S+ worker:0 \| … am /);
    const failed = { ...cause, reason: { ...followed[0].reason, task: "worker:1" }, task: "worker:1" };
    const other = failureReport(failedStatus, { ...outcome, cause: { ...failed, consequences: [] } }, lastedMs);
    expect(other.at(-1)).toMatch(/^ {2}tony-ts logs \S+ worker:1 \| … am /);
  });

  test("names the root cause, its remedy, what followed, every task, every generation, and where to read on", () => {
    expect(failureReport(failedStatus, outcome, lastedMs).join("\n")).toBe(
      `
FAILED  application_1795305600000_0009  bert · 2 min 35 s · generation 2 (program restarts: 1 of 1 used, infrastructure restarts: 1 of 10 used)

Root cause   worker:1 ran out of memory on 127.0.0.12, 14:02:11, generation 2 (container_e01_1795305600000_0009_01_000005, exit -104 OOM)
             → raise tony.worker.memory (job.xml:16), e.g. to 5g
  | epoch 7 step 1840 loss 0.402
  | File "train.py", line 88, in collate
Then         worker:0 exit 1 Connection closed by peer, 0.2 s later (a consequence, not counted)
No restart   program restarts: 2 of 2 used (tony.am.retry-count = 2, job.xml:9)

task       state     host         exit       start      end        progress    last checkpoint
worker:0   failed    127.0.0.11   1          14:00:05   14:02:11   step 1840   step 1800
worker:1   lost      127.0.0.12   -104 OOM   14:00:05   14:02:11   –           –
ps:0       stopped   127.0.0.11   SIGTERM    14:00:05   14:02:11   –           –

generation    ended by                 counted as                              resumed from
1  13:59:00   node 127.0.0.12 lost     infrastructure restarts: 1 of 10 used   –
2  14:00:00   worker:1 out of memory   program, no restart                     step 600, 40 s old

All containers are returned; the last checkpoint is kept: step 1800, saved 12 s before the end: hdfs:///user/ada/ckpt/bert
  tony-ts logs application_1795305600000_0009 worker:1 | … am     tony-ts status application_1795305600000_0009 --json     exit code 1
`.trim(),
    );
  });

  test("is of the generation that failed, though the next one had been opened before that was known", () => {
    const next = { generation: 3, startedAtMs: noonishMs + 131_000 };
    const ofSecond = { ...outcome, cause: outOfMemory({ generation: 2 }) };
    const generations = [...failedStatus.generations, next];
    const status = { ...failedStatus, generation: 3, generations, outcome: ofSecond };
    expect(failureReport(status, ofSecond, lastedMs)).toEqual(
      failureReport({ ...failedStatus, outcome: ofSecond }, ofSecond, lastedMs),
    );
    const ofFirst = { ...outcome, cause: outOfMemory({ generation: 1 }) };
    const report = failureReport({ ...failedStatus, outcome: ofFirst }, ofFirst, lastedMs).join("\n");
    expect(report).toContain("· generation 1 (");
    expect(report).not.toContain("counted as");
  });

  test("names task and host where the summary does not", () => {
    const cause = outOfMemory({ summary: "exit 1", exit: "1" });
    expect(failureReport(failedStatus, { ...outcome, cause }, lastedMs)[2]).toBe(
      "Root cause   worker:1 on 127.0.0.12 exit 1, 14:02:11, generation 2 (container_e01_1795305600000_0009_01_000005, exit 1)",
    );
  });

  test("is of the last generation where nobody knows which one failed, and reads on at the AM where there is no task", () => {
    const { generation: _, ...cause } = outOfMemory();
    const [head, , first] = failureReport(failedStatus, { ...outcome, cause }, lastedMs);
    expect(head).toContain(" · generation 2 (");
    expect(first).toContain(", 14:02:11 (container_");
    const lines = failureReport(aJobStatus({ tasks: [] }), killedBecause("enough"), lastedMs);
    expect(lines.at(-1)).toMatch(/^ {2}tony-ts logs \S+ am {5}tony-ts status/);
  });

  test("says what became of its output", () => {
    const transfer = {
      what: "output",
      state: "failed",
      url: "hdfs:///out",
      files: 1,
      bytes: 5,
      step: 0,
      atMs: 1,
    } as const;
    const [first, ...others] = failedStatus.tasks;
    const moved =
      first === undefined ? [] : [{ ...first, transfers: [{ ...transfer, reason: "no space" }] }, ...others];
    expect(failureReport({ ...failedStatus, tasks: moved }, outcome, lastedMs).join("\n")).toMatch(
      /^worker:0: its output .*no space/m,
    );
  });

  test("does not say how it exited where nobody knows", () => {
    const { exit: _, ...cause } = outOfMemory();
    expect(failureReport(failedStatus, { ...outcome, cause }, lastedMs)[2]).toMatch(
      / generation 2 \(container_e01_1795305600000_0009_01_000005\)$/,
    );
  });

  test("has a column for what was measured of one task, and none for what was of no task", () => {
    const [first, ...others] = failedStatus.tasks;
    const measured = first === undefined ? [] : [{ ...first, maxMemoryBytes: 1_073_741_824 }, ...others];
    const lines = failureReport({ ...failedStatus, tasks: measured }, outcome, lastedMs);
    const [head = "", ...rows] = lines.slice(lines.findIndex((line) => line.startsWith("task "))).slice(0, 4);
    expect(head).toMatch(/ last checkpoint +memory peak$/);
    expect(rows.map((row) => row.split(/ {2,}/).at(-1))).toEqual(["1 GiB of 4 GiB", "–", "–"]);
  });

  test("gives the reason alone where no cause is known, as for a job that was killed", () => {
    const killed = killedBecause("killed by Ctrl-C at the client");
    const lines = failureReport(aJobStatus(), killed, 1_500);
    expect(lines[0]).toMatch(/^KILLED {2}application_1795305600000_0009 {2}bert · 1 s/);
    expect(lines[2]).toBe("Reason       killed by Ctrl-C at the client");
    expect(lines.at(-1)).toMatch(/exit code 4$/);
  });

  test("of a job that YARN ended, tasks whose end nobody told were killed", () => {
    const killed = killedBecause("was killed by user ada");
    const [first, ...others] = aJobStatus().tasks.map((task) => task.task);
    const tasks = [
      { task: first ?? "", state: "succeeded", restarts: 0 } as const,
      ...others.map((task) => ({ task, state: "running", restarts: 0 }) as const),
    ];
    const rows = failureReport(aJobStatus({ tasks }), killed, lastedMs).filter((line) => /^\w+:\d/.test(line));
    expect(rows.map((row) => row.split(/ +/)[1])).toEqual(["succeeded", "killed", "killed"]);
  });

  test("says of a program that was killed as it stopped which key gives it more time", () => {
    const stopped = (task: string, exit: string) => ({ task, state: "stopped", exit, restarts: 0 }) as const;
    const reportOf = (exit: string) =>
      failureReport(
        aJobStatus({ tasks: [stopped("ps:0", exit), stopped("worker:1", "SIGTERM")] }),
        outcome,
        lastedMs,
      ).join("\n");
    expect(reportOf("SIGKILL")).toContain(
      "ps:0 was killed while it was still stopping: to give programs more time, raise tony.task.stop-grace\n",
    );
    expect(reportOf("SIGTERM")).not.toContain("stop-grace");
  });

  test("says of its feeds what was not read", () => {
    const failures = [{ split: 3, path: "hdfs://nn/a.gz", start: 0, end: 20, reason: "it is damaged" }];
    const feed = { name: "train", epoch: 0, epochs: 1, splits: 4, used: 1, leftOut: 1, failures };
    const status = aJobStatus({ feeds: [{ ...feed, triedAgain: 0, readers: [] }] });
    const killed = { ...endedBecause("killed", { code: "stop-requested", words: "enough" }), endedAtMs: noonishMs };
    expect(failureReport(status, killed, lastedMs)).toEqual(
      expect.arrayContaining([
        "feed train: 1 of 4 splits was left out, 2 of 4 splits were not read",
        "  split 3 (hdfs://nn/a.gz, bytes 0 to 20): it is damaged",
      ]),
    );
  });

  test("keeps to the last 20 lines of a program and 30 tasks, the failed ones first", () => {
    const many = Array.from({ length: 40 }, (_, index) => ({
      task: `worker:${index}`,
      state: index === 39 ? ("failed" as const) : ("stopped" as const),
      containerId: `container_${index}`,
      restarts: 0,
    }));
    const lines = Array.from({ length: 50 }, (_, index) => `line ${index}`);
    const report = failureReport(aJobStatus({ tasks: many }), { ...outcome, cause: outOfMemory({ lines }) }, lastedMs);
    expect(report.filter((line) => line.startsWith("  | "))).toHaveLength(20);
    expect(report).toContain("  | line 49");
    expect(report[report.findIndex((line) => line.startsWith("task ")) + 1]).toMatch(/^worker:39 +failed/);
    expect(report).toContain("and 10 more");
  });
});

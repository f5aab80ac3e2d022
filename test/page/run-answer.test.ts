import { describe, expect, test } from "@jest/globals";
import { shownAdvice } from "../../src/advice/advise.ts";
import { usualRoundings } from "../../src/advice/roundings.ts";
import type { TaskSeries } from "../../src/history/series/table.ts";
import type { TaskStatus } from "../../src/job/status.ts";
import { ADVISED_TASKS, type RunAnswer, runAnswer } from "../../src/page/run-answer.ts";
import { aJobStatus, noonishMs, role } from "../client/job-status.ts";

const MINUTE = 60_000;
const GIB = 2 ** 30;

function job(workers: number, minutes: number) {
  const tasks = Array.from({ length: workers }, (_none, index): TaskStatus => {
    return { task: `worker:${index}`, state: "running", restarts: 0, startedAtMs: noonishMs, maxMemoryBytes: GIB };
  });
  const roles = [{ ...role("worker", workers), memoryMiB: 8_192, vcores: 4 }];
  return aJobStatus({ tasks, roles, startedAtMs: noonishMs, nowMs: noonishMs + minutes * MINUTE });
}

const column = (name: string, value: number): TaskSeries => ({
  name,
  rule: "mean",
  first: 0,
  values: [value, null, value],
});
const seriesOf = () => ({
  spanMs: MINUTE,
  series: [column("cpu", 1 / 3), column("memory", GIB), column("step", 123_456)],
});

/** As a page reads it. */
function answer(workers: number, minutes: number): RunAnswer {
  const prices = { vcoreHourPrice: 0.1, currency: "EUR", memoryMiB: 512 };
  return JSON.parse(JSON.stringify(runAnswer(job(workers, minutes), seriesOf, usualRoundings, prices)));
}

function advice({ status, series, roundings = usualRoundings, prices }: RunAnswer) {
  return shownAdvice([{ status, series, submittedAtMs: status.startedAtMs }], roundings, prices);
}

describe("what advice on a job that runs is made of", () => {
  test("is its status, its prices, and the series that advice goes by, in four digits", () => {
    const { status, series, tasks, roundings, prices } = answer(2, 30);
    expect([status, tasks, roundings]).toEqual([job(2, 30), 2, usualRoundings]);
    expect(prices).toEqual({ vcoreHourPrice: 0.1, currency: "EUR" });
    const columns = [{ ...column("cpu", 0.3333), values: [0.3333, null, 0.3333] }, column("step", 123_456)];
    expect(series).toEqual({
      axis: { spanMs: MINUTE },
      rows: [
        { task: "worker:0", series: columns },
        { task: "worker:1", series: columns },
      ],
    });
  });

  test("has the first tasks of each role alone, and says how many there are", () => {
    const { status, series, tasks } = answer(ADVISED_TASKS + 5, 30);
    expect([status.tasks.length, series.rows.length, tasks]).toEqual([ADVISED_TASKS, ADVISED_TASKS, ADVISED_TASKS + 5]);
  });

  test("comes to the advice that tony-ts advise gives, with cores judged before the job ends", () => {
    const { lines, settings } = advice(answer(2, 30));
    expect(lines).toEqual([
      expect.stringMatching(/^worker\.memory 8 GiB → 2 GiB: the most that any task held is 1 GiB/),
      expect.stringMatching(/^worker\.vcores 4 → 1: p95 of processor use 0\.33/),
    ]);
    expect(settings).toEqual(["tony.worker.memory=2g", "tony.worker.vcores=1"]);
  });

  test("comes to the word that it is too thin as long as it is", () => {
    expect(advice(answer(2, 5)).lines[0]).toMatch(
      /^worker: no advice: not enough data: no run succeeded with a worker that ran for more than 1 min; 3 such runs/,
    );
  });
});

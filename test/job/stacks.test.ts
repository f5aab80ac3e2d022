import { describe, expect, it } from "@jest/globals";
import { groupPlaces, leadingProcesses, placeWords, taskPlaceOf } from "../../src/job/stacks.ts";

function at(file: string): string {
  return `Current thread 0x01 (most recent call first):\n  File "${file}", line 7 in <module>\n`;
}

it("the places of tasks are told with how many stand there, the most first, one alone by its name", () => {
  const groups = groupPlaces([
    ["worker:2", "at train.py:26"],
    ["worker:0", "in all_reduce train.py:27"],
    ["worker:1", "in all_reduce train.py:27"],
  ]);
  expect(groups.map((group) => placeWords(group, 3))).toEqual([
    "2 of 3 in all_reduce train.py:27",
    "worker:2 at train.py:26",
  ]);
});

describe("the processes that say where a task stands", () => {
  const shell = { pid: 1, parent: 0, program: "bash", why: "it is not Python" };
  const agent = { pid: 2, parent: 1, program: "python3", stacks: at("/v/lib/python3.11/site-packages/torch/run.py") };
  const trainers = [3, 4].map((pid) => ({ pid, parent: 2, program: "python3", stacks: at("/data/train.py") }));
  const loader = { pid: 5, parent: 3, program: "python3", stacks: at("/data/train.py") };

  it("are those that run the job's code, without their helpers and the agent that started them", () => {
    expect(leadingProcesses([shell, agent, ...trainers, loader]).map(({ pid }) => pid)).toEqual([3, 4]);
  });

  it("are all of which it is known where none runs the job's code", () => {
    expect(leadingProcesses([shell, agent]).map(({ pid }) => pid)).toEqual([2]);
  });

  it("say it in lines that are not endless, and not at all where nothing is known of them", () => {
    const place = taskPlaceOf([{ ...agent, stacks: at(`/data/${"x".repeat(600)}.py`) }]);
    expect(Math.max(...(place?.lines ?? []).map((line) => line.length))).toBe(500);
    expect(taskPlaceOf([shell])).toBeUndefined();
  });
});

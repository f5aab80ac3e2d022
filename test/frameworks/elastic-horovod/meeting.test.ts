import { describe, expect, test } from "@jest/globals";
import { Meeting, type MeetingOptions, type Round } from "../../../src/frameworks/elastic-horovod/meeting.ts";

const of = (task: number, process = 0) => ({ task, process });

function meetingOf(options: Partial<MeetingOptions> = {}): Meeting {
  return new Meeting({ processes: 1, least: 2, expected: [0, 1, 2], patienceMs: 30, enoughMs: 1000, ...options });
}

/** Tasks 0, 1 and 2 train. */
function threeTraining(): Meeting {
  const meeting = meetingOf();
  for (const task of [0, 1, 2]) meeting.join(of(task), 0);
  meeting.close(0);
  return meeting;
}

const tasksOf = (round: Round | undefined) => (round?.type === "met" ? round.tasks : round?.type);

describe("the first round of an elastic job", () => {
  test("is of all tasks that start together, once each has asked", () => {
    const meeting = meetingOf();
    meeting.join(of(2), 0);
    meeting.join(of(0), 1);
    expect(meeting.close(1)).toBeUndefined();
    meeting.join(of(1), 2);
    expect(tasksOf(meeting.close(2))).toEqual([0, 1, 2]);
  });

  test("gives ranks in the order of the tasks, each of which is a machine", () => {
    const meeting = meetingOf({ processes: 2, expected: [0, 2] });
    for (const task of [0, 2]) for (const process of [0, 1]) meeting.join(of(task, process), 0);
    const round = meeting.close(0);
    expect(round?.type === "met" && [of(0), of(0, 1), of(2), of(2, 1), of(1)].map(round.slotOf)).toEqual([
      { rank: 0, size: 4, localRank: 0, localSize: 2, crossRank: 0, crossSize: 2 },
      { rank: 1, size: 4, localRank: 1, localSize: 2, crossRank: 0, crossSize: 2 },
      { rank: 2, size: 4, localRank: 0, localSize: 2, crossRank: 1, crossSize: 2 },
      { rank: 3, size: 4, localRank: 1, localSize: 2, crossRank: 1, crossSize: 2 },
      undefined,
    ]);
  });

  test("counts tasks by their numbers, however many there are", () => {
    const tasks = Array.from({ length: 12 }, (_, task) => task);
    const meeting = meetingOf({ expected: tasks });
    for (const task of tasks.toReversed()) meeting.join(of(task), 0);
    expect(tasksOf(meeting.close(0))).toEqual(tasks);
  });

  test("waits for the other processes of a task", () => {
    const meeting = meetingOf({ processes: 2, expected: [0], least: 1 });
    meeting.join(of(0, 1), 0);
    expect(meeting.close(0)).toBeUndefined();
    meeting.join(of(0, 0), 0);
    expect(tasksOf(meeting.close(0))).toEqual([0]);
  });

  test("does without a task that does not come for too long", () => {
    const meeting = meetingOf();
    meeting.join(of(1), 5);
    meeting.join(of(0), 10);
    expect(meeting.dueMs).toBe(35);
    expect(meeting.close(34)).toBeUndefined();
    expect(tasksOf(meeting.close(35))).toEqual([0, 1]);
  });

  test("is none without the first task, from which the others take their state", () => {
    const meeting = meetingOf();
    for (const task of [1, 2]) meeting.join(of(task), 0);
    expect(meeting.close(40)).toBeUndefined();
  });
});

describe("a later round of an elastic job", () => {
  test("is of those that are left when one is lost, once each has asked again", () => {
    const meeting = threeTraining();
    meeting.leave(of(1));
    expect(meeting.ask(of(0))).toBe(true);
    expect(meeting.close(1)).toBeUndefined();
    meeting.ask(of(2));
    const round = meeting.close(1);
    expect(tasksOf(round)).toEqual([0, 2]);
    expect(round?.type === "met" && round.slotOf(of(2))?.rank).toBe(1);
  });

  test("takes in who has come meanwhile; those that train are told", () => {
    const meeting = threeTraining();
    expect(meeting.isAwaited).toBe(false);
    meeting.join(of(3), 1);
    expect([meeting.isAwaited, meeting.close(1)]).toEqual([true, undefined]);
    for (const task of [0, 1]) meeting.ask(of(task));
    expect([meeting.isAwaited, meeting.close(1)]).toEqual([false, undefined]);
    meeting.ask(of(2));
    expect(tasksOf(meeting.close(1))).toEqual([0, 1, 2, 3]);
  });

  test("takes in the next life of a task whose end was not noticed", () => {
    const meeting = threeTraining();
    meeting.join(of(1), 1);
    expect(meeting.isAwaited).toBe(true);
    for (const task of [0, 2]) meeting.ask(of(task));
    expect(tasksOf(meeting.close(1))).toEqual([0, 1, 2]);
  });

  test("is not for a process that is not known to run", () => {
    const meeting = threeTraining();
    meeting.leave(of(2));
    expect(meeting.ask(of(2))).toBe(false);
  });

  test("does not count a task of whose processes one is gone", () => {
    const meeting = meetingOf({ processes: 2, expected: [0, 1], least: 1 });
    for (const task of [0, 1]) for (const process of [0, 1]) meeting.join(of(task, process), 0);
    meeting.close(0);
    meeting.leave(of(1, 0));
    for (const one of [of(0, 0), of(0, 1), of(1, 1)]) meeting.ask(one);
    expect(tasksOf(meeting.close(1))).toEqual([0]);
  });
});

describe("too few tasks of an elastic job", () => {
  function alone(): Meeting {
    const meeting = threeTraining();
    for (const task of [1, 2]) meeting.leave(of(task));
    meeting.ask(of(0));
    return meeting;
  }

  test("wait for more", () => {
    const meeting = alone();
    expect([meeting.close(100), meeting.dueMs]).toEqual([undefined, 1100]);
    meeting.join(of(2), 500);
    expect(tasksOf(meeting.close(500))).toEqual([0, 2]);
  });

  test("are told so when nobody has come for too long", () => {
    const meeting = alone();
    meeting.close(100);
    expect(tasksOf(meeting.close(1100))).toBe("too-few");
  });

  test("wait as long again when they are too few once more", () => {
    const meeting = alone();
    meeting.close(100);
    meeting.join(of(2), 500);
    meeting.close(500);
    meeting.leave(of(2));
    meeting.ask(of(0));
    expect([meeting.close(1200), meeting.dueMs]).toEqual([undefined, 2200]);
    expect(tasksOf(meeting.close(2200))).toBe("too-few");
  });

  test("do not count one that asked and has ended since", () => {
    const meeting = alone();
    meeting.join(of(2), 100);
    meeting.leave(of(2));
    expect(meeting.close(100)).toBeUndefined();
  });

  test("go on once another has done its share: nobody is to come any more", () => {
    const meeting = alone();
    meeting.done();
    expect(tasksOf(meeting.close(100))).toEqual([0]);
  });

  test("take nobody in then", () => {
    const meeting = alone();
    meeting.done();
    meeting.join(of(3), 50);
    expect([meeting.isTooLate(3), meeting.isTooLate(0), meeting.isAwaited]).toEqual([true, false, false]);
    expect(tasksOf(meeting.close(100))).toEqual([0]);
  });
});

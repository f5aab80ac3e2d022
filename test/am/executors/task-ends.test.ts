import { expect, test } from "@jest/globals";
import { TaskEnds } from "../../../am/executors/task-ends.ts";
import type { TaskEnd } from "../../../src/api/messages.ts";

test("tasks are answered when the others have ended, unless they have gone", async () => {
  let ended: readonly TaskEnd[] | undefined;
  let looks = 0;
  const ends = new TaskEnds(
    () => {
      looks += 1;
      return ended;
    },
    () => ["worker"],
  );
  const caller = new AbortController();
  const ask = (gone: AbortSignal) => ends.await({ task: "evaluator:0", roles: ["worker"], gone });
  const waits = ask(new AbortController().signal);
  void ask(caller.signal);
  caller.abort();
  ends.look();
  expect(looks).toBe(3);
  ended = [{ task: "worker:0", state: "succeeded", exit: "0" }];
  ends.look();
  expect(await waits).toEqual({ tasks: ended });
  ends.look();
  expect(looks).toBe(4);
});

test("of roles that are asked for, those that the job has are looked at, however many are named", async () => {
  const asked: (readonly string[])[] = [];
  const answer = (_task: string, roles: readonly string[]) => {
    asked.push(roles);
    return [];
  };
  const ends = new TaskEnds(answer, () => ["ps", "worker"]);
  const roles = ["worker", ...Array.from({ length: 80_000 }, (_, index) => `r${index}`), "worker"];
  await ends.await({ task: "evaluator:0", roles, gone: new AbortController().signal });
  expect(asked).toEqual([["worker"]]);
});

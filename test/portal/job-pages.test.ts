import { expect, test } from "@jest/globals";
import { eventLine } from "../../portal/job-pages.ts";

const occasion = { atMs: 20, generation: 1, task: "worker:0", containerId: "c1" };

test.each([
  [{ type: "task-ended", exit: "3", result: "failed" } as const, "task ended: exit 3, result failed"],
  [{ type: "cluster-spec-sent" } as const, "cluster spec sent"],
  [
    {
      type: "task-failed",
      class: "program",
      reason: { code: "program-exited", task: "worker:0", host: "n1", exitCode: 3 },
    } as const,
    "task failed (program): worker:0 exited 3 on n1",
  ],
])("an event is told in words: %#", (happening, text) => {
  expect(eventLine({ ...occasion, ...happening })).toEqual({ atMs: 20, generation: 1, task: "worker:0", text });
});

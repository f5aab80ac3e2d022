import { expect, test } from "@jest/globals";
import { createExecutorCore } from "../../../executor/core/core.ts";
import type { Effect } from "../../../executor/core/effects.ts";
import { CONNECTION } from "../../../executor/core/link-moves.ts";
import { follow } from "../../../executor/core/step.ts";

test("a move that the table does not have is told as a defect, and changes nothing", () => {
  const { state } = createExecutorCore(
    { attempt: 1, address: "node-1:4000" },
    { orphanMs: 780_000, isolationMs: 30_000 },
  );
  const effects: Effect[] = [];
  const it = { phase: "closed" as const };
  expect(follow({ state, effects, nowMs: 0, random: 0 }, CONNECTION, it, "welcomed")).toBe(false);
  expect(it).toEqual({ phase: "closed" });
  expect(effects).toEqual([
    {
      type: "log",
      level: "error",
      event: "defect",
      message:
        "The table of connection of an executor has no row for welcomed in closed. This is a defect of tony-ts, and nothing was changed: please report it.",
    },
  ]);
});

import { describe, expect, test } from "@jest/globals";
import type { ExecutorMutation } from "./planted-faults.ts";
import { problemsUntil } from "./run.ts";

interface ExecutorMutant {
  readonly fault: string;
  readonly noticed: RegExp;
  readonly executorMutation: ExecutorMutation;
  /** The faults that have to strike the world for this one to matter. */
  readonly struck: readonly string[];
  /** The first seed that shows the fault, where many do not. */
  readonly firstSeed?: number;
}

const MASTER_DIES = "the ApplicationMaster dies";
const BREAKS = "a stream breaks";
const CUT = "a node is cut off";

/** Faults planted in the executors' core: combinations, what one life leaves for the next, and what is not tried again. */
const MUTANTS: readonly ExecutorMutant[] = [
  {
    fault: "the late close of an earlier connection is taken for that of the present one",
    noticed: /has a stream open that it does not know/,
    struck: ["the ApplicationMaster is paused, replaced, and goes on"],
    executorMutation: (effects, core) => {
      const types = effects.map(({ type }) => type);
      if (types.includes("joined") && types.includes("close")) {
        core.state.link.active = undefined;
        core.state.link.phase = "searching";
        core.state.link.connectAtMs = 0;
      }
      return effects;
    },
  },
  {
    fault: "an attempt that calls is tried beside a connection whose stream is forgotten",
    noticed: /has a stream open that it does not know/,
    struck: [MASTER_DIES],
    firstSeed: 53,
    executorMutation: (effects, _, event) =>
      event.type === "called" ? effects.filter(({ type }) => type !== "close") : effects,
  },
  {
    fault: "an earlier attempt is obeyed again",
    noticed: /obeys attempt \d after \d/,
    struck: [MASTER_DIES, BREAKS],
    executorMutation: (effects, core, event) => {
      const { link } = core.state;
      if (event.type === "ended" && link.current.attempt > 1) {
        link.current = { ...link.current, attempt: link.current.attempt - 1 };
      }
      return effects;
    },
  },
  {
    fault: "the pauses of one search lengthen those of the next",
    noticed: /begins its search with the pauses of an earlier one/,
    struck: [BREAKS],
    executorMutation: (effects, core) => {
      const { link } = core.state;
      if (effects.some(({ type }) => type === "left") && link.connectAtMs !== undefined) {
        link.connectAtMs += 3_000;
      }
      return effects;
    },
  },
  {
    fault: "an absence outlives the welcome",
    noticed: /is absent while it is connected/,
    struck: [BREAKS],
    executorMutation: (effects, core, event) => {
      if (effects.some(({ type }) => type === "joined") && event.type === "message") {
        core.state.absence = { sinceMs: 0, heardAtMs: 0, lookedAtMs: 0 };
      }
      return effects;
    },
  },
  {
    fault: "an address that did not answer is not tried again",
    noticed: /searches for no ApplicationMaster/,
    struck: [MASTER_DIES],
    executorMutation: (effects, core, event) => {
      if (event.type === "ended") {
        core.state.link.connectAtMs = undefined;
      }
      return effects;
    },
  },
  {
    fault: "a look into the staging folder that found nothing is the last one",
    noticed: /does not look into the staging folder again/,
    struck: [MASTER_DIES],
    executorMutation: (effects, core, event) => {
      if (event.type === "looked" && core.state.absence !== undefined) {
        core.state.absence.lookAtMs = undefined;
      }
      return effects;
    },
  },
  {
    fault: "the suspension of a program outlives it",
    noticed: /suspends a program that may run/,
    struck: [CUT],
    firstSeed: 96,
    executorMutation: (effects, core, event) => {
      for (const program of core.state.programs) {
        if (event.type === "program-ended" && program.suspendedMs > 0) program.suspendedAtMs = 0;
      }
      return effects;
    },
  },
  {
    fault: "a program goes on though nobody has said that it may",
    noticed: /lets one run that may not/,
    struck: [CUT],
    executorMutation: (effects, core) => {
      if (effects.some(({ type }) => type === "hold-uploads")) {
        for (const program of core.state.programs) program.suspendedAtMs = undefined;
      }
      return effects.filter(({ type }) => type !== "suspend");
    },
  },
  {
    fault: "an executor that has ended still waits for an ApplicationMaster",
    noticed: /awaits something after its end/,
    struck: [BREAKS],
    executorMutation: (effects, core, event) => {
      if (event.type === "closing") {
        core.state.link.connectAtMs = 0;
      }
      return effects;
    },
  },
];

describe("every invariant of executors can fail", () => {
  test.each(MUTANTS)("$fault", async ({ noticed, executorMutation, struck, firstSeed }) => {
    const problems = await problemsUntil(noticed, { executorMutation, faults: struck }, firstSeed);
    expect(problems).toContainEqual(expect.stringMatching(noticed));
  });
});

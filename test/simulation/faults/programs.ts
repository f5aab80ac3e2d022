import { programsFault } from "../causes.ts";
import { peersLose } from "../program-ends.ts";
import { type Fault, victim } from "./fault.ts";

/** What programs do by themselves. */
export const PROGRAM_FAULTS: readonly [Fault, ...Fault[]] = [
  {
    name: "a program exits 1",
    class: "program",
    strike: (world) => victim(world)?.endChild({ exitCode: 1, traceback: "ValueError", errorSummary: "ValueError" }),
  },
  {
    name: "a program is killed",
    class: "program",
    strike: (world) => victim(world)?.endChild({ signal: "SIGKILL" }),
  },
  {
    name: "a program dies of a machine's fault",
    class: "infrastructure",
    strike: (world) => victim(world)?.endChild({ signal: "SIGBUS" }),
  },
];

/** Only for jobs whose programs report steps. */
export const HANG: Fault = {
  name: "a program hangs",
  class: "program",
  strike: (world) => victim(world)?.program.hang(),
};

/** A program that the others needed ends well, and they lose their connection to it. */
export const EARLY_EXIT: Fault = {
  name: "a program ends with 0 before the others",
  class: "program",
  strike: (world) => {
    const executor = victim(world);
    if (executor?.isProgramActive) {
      programsFault(world, executor, true, false);
      executor.endChild({});
      peersLose(world, executor);
    }
  },
};

import { machine, type Row } from "../../src/moves.ts";
import type { IsolationPhase } from "./state.ts";

const PHASES = {
  reached: "the ApplicationMaster or the staging folder can be reached, or could be within the isolation time",
  isolated: "neither could be reached: the task may run elsewhere, so programs are suspended and nothing is uploaded",
  ordered:
    "the ApplicationMaster gave an order about the task: uploads go on, a suspended program waits for `resume-child`",
} satisfies Record<IsolationPhase, string>;

const ROWS = [
  { on: "silent-too-long", from: ["reached", "ordered"], to: "isolated", does: "isolate" },
  { on: "silent-too-long", from: ["isolated"], to: "ignored", does: "isolate" },
  { on: "order-heard", from: ["isolated"], to: "ordered", does: "hearOrder" },
  { on: "order-heard", from: ["reached", "ordered"], to: "ignored", does: "hearOrder" },
  { on: "task-confirmed", from: ["isolated", "ordered"], to: "reached", does: "goOn" },
  { on: "task-confirmed", from: ["reached"], to: "ignored", does: "goOn" },
] as const satisfies readonly Row<IsolationPhase>[];

type IsolationMove = (typeof ROWS)[number]["on"];

export const ISOLATION = machine<IsolationPhase, IsolationMove>({
  name: "isolation of an executor",
  phases: PHASES,
  groups: {},
  rows: ROWS,
});

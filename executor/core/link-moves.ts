import { machine, type Row } from "../../src/moves.ts";
import type { LinkPhase } from "./state.ts";

const PHASES = {
  searching: "no ApplicationMaster is connected: addresses are tried, and the staging folder is read",
  connected:
    "the executor obeys an attempt of the ApplicationMaster over its stream, and may try a later one beside it",
  closed: "the executor ends: nothing is opened any more",
} satisfies Record<LinkPhase, string>;

const ROWS = [
  { on: "welcomed", from: ["searching", "connected"], to: "connected", does: "join" },
  { on: "stream-ended", from: ["connected"], to: "searching", does: "lose" },
  { on: "closing", from: ["searching", "connected"], to: "closed", does: "close" },
  { on: "closing", from: ["closed"], to: "ignored", does: "close" },
] as const satisfies readonly Row<LinkPhase>[];

type LinkMove = (typeof ROWS)[number]["on"];

export const CONNECTION = machine<LinkPhase, LinkMove>({
  name: "connection of an executor",
  phases: PHASES,
  groups: {},
  rows: ROWS,
});

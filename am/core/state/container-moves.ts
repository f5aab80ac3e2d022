import { machine } from "../../../src/moves.ts";
import { follow, type Row } from "./machine.ts";
import type { ContainerPhase, ContainerRecord, Link } from "./records.ts";
import type { Step } from "./step.ts";

const PHASES = {
  unclaimed:
    "bound to no task: just allocated; or kept by YARN for a later attempt whose journal does not know it, and its executor may still connect and name its task",
  held: "bound to a task",
  terminating:
    "its executor is gone; it is released only after YARN's completion status, which says why: a release would replace that status",
  discarded: "released or stopped by us, or over; only YARN's completion is outstanding",
} satisfies Record<ContainerPhase, string>;

/** Everything that may happen to a container until YARN says that it has ended and it leaves the state. */
const ROWS = [
  { on: "bound", from: ["unclaimed"], to: "held", durable: false, does: "holdFor" },
  { on: "bound", from: ["held"], to: "held", durable: true, does: "handOver" },
  { on: "not-needed", from: ["unclaimed"], to: "discarded", durable: false, does: "containersAllocated" },
  { on: "executor-gone", from: ["held"], to: "terminating", durable: false, does: "beginTermination" },
  { on: "given-up", from: ["held", "unclaimed", "terminating"], to: "discarded", durable: false, does: "discard" },
  { on: "completed", from: ["held"], to: "discarded", durable: true, does: "containerGone" },
] as const satisfies readonly Row<ContainerPhase>[];

export type ContainerMove = (typeof ROWS)[number]["on"];

export const CONTAINER = machine<ContainerPhase, ContainerMove>({
  name: "container",
  phases: PHASES,
  groups: {},
  rows: ROWS,
});

/** The only way to change a container's phase. */
export function moveContainer(step: Step, container: ContainerRecord, on: ContainerMove): void {
  follow(step, CONTAINER, container, container.id, on);
}

const LINKS = {
  none: "it has not registered yet",
  up: "its stream is open",
  broken: "the stream broke; the executor may reconnect within the reconnect time",
  rejoining: "this attempt of the ApplicationMaster has not heard from it yet",
  closed: "the executor said goodbye, or its container was given up or is over",
} satisfies Record<Link, string>;

const LINK_ROWS = [
  {
    on: "registered",
    from: ["none", "up", "broken", "rejoining"],
    to: "up",
    durable: false,
    does: "executorRegistered",
  },
  { on: "stream-broken", from: ["up"], to: "broken", durable: false, does: "executorLost" },
  {
    on: "attempt-changed",
    from: ["none", "up", "broken", "rejoining"],
    to: "rejoining",
    durable: false,
    does: "findExecutors",
  },
  { on: "handed-over", from: ["up"], to: "none", durable: true, does: "handOver" },
  {
    on: "given-up",
    from: ["none", "up", "broken", "rejoining", "closed"],
    to: "closed",
    durable: false,
    does: "vacate",
  },
  {
    on: "completed",
    from: ["none", "up", "broken", "rejoining", "closed"],
    to: "closed",
    durable: false,
    does: "removeContainer",
  },
] as const satisfies readonly Row<Link>[];

export type LinkMove = (typeof LINK_ROWS)[number]["on"];

/** How the executor in a container is reached; `containers.ts` moves it, and counts the executors that are heard. */
export const LINK = machine<Link, LinkMove>({
  name: "link to an executor",
  phases: LINKS,
  groups: {},
  rows: LINK_ROWS,
});

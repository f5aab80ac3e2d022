import type { ChildExit } from "../../am/core/state/events.ts";
import { cutsFault, machinesFault, programsFault } from "./causes.ts";
import type { ExecutorModel } from "./executor-model.ts";
import { areOneGang, holdsGang, isInGang } from "./ground-truth.ts";
import type { World } from "./world.ts";

/** What the end of a program means for others, and for the judge of the job. */

const MACHINE_SIGNALS: readonly string[] = ["SIGBUS", "SIGILL"];

/** The peers of a gang's task that ended badly lose their connections to it. */
export function programEnded(world: World, executor: ExecutorModel, exit: ChildExit): void {
  const what = exit.signal === "" ? `exit ${exit.exitCode}` : exit.signal;
  world.trace(`  program of ${executor.task} generation ${executor.generation} ends: ${what}`);
  world.witness.ended(executor, exit, world.clock.nowMs);
  world.meetings.ended(executor, exit);
  if (isClosed(exit)) {
    // It may have been told to start with the others, and have come too late by itself.
    programsFault(world, executor, true, false);
  } else if (isProgramsFault(exit)) {
    programsFault(world, executor, true);
  } else if (MACHINE_SIGNALS.includes(exit.signal)) {
    machinesFault(world, executor);
  }
  const endedItself = (exit.exitCode !== 0 || exit.signal !== "") && exit.stopReason === undefined;
  if (endedItself && !isClosed(exit)) {
    peersLose(world, executor, exit.signal === "" ? "closed" : undefined);
  }
}

export function isClosed({ missedMeeting }: ChildExit): boolean {
  return missedMeeting === "closed";
}

/**
 * The peers of a task lose their connections to its program.
 * @param how `severed`: the executor lives on, so that nothing tells such a failure of its peers from one of their own; `closed`: it gave
 * up for those peers, too, that adapt to the loss of others
 */
export function peersLose(world: World, executor: ExecutorModel, how?: "severed" | "closed"): void {
  if (how === "closed" ? !isInGang(world, executor) : !holdsGang(world, executor)) {
    return;
  }
  const { random } = world;
  for (const peer of world.executors.values()) {
    const isPeer = peer !== executor && peer.gangGeneration === executor.gangGeneration;
    if (isPeer && random.chance(0.6) && areOneGang(world, executor, peer)) {
      loseConnection(world, peer, random.integer(10, 800), how === "severed" ? how : undefined);
    }
  }
}

/** A suspended program goes on, and its connections have not survived the pause. */
export function connectionsBroken(world: World, executor: ExecutorModel): void {
  if (holdsGang(world, executor)) {
    loseConnection(world, executor, world.random.integer(10, 5_000), "severed");
  }
  peersLose(world, executor, "severed");
}

function loseConnection(world: World, peer: ExecutorModel, delayMs: number, how?: "severed"): void {
  const { generation } = peer;
  world.clock.after(delayMs, () => {
    if (peer.generation !== generation) {
      return;
    }
    if (how === "severed" && peer.hasProgram) {
      programsFault(world, peer, true, false);
      cutsFault(world, peer);
    } else if (peer.program.isSuspended) {
      // It notices when it goes on, and the cut may be believed to have cost it its peer.
      cutsFault(world, peer);
    }
    peer.endChild({ exitCode: 1, peerConnectionLost: true, errorSummary: "Connection closed by peer" });
  });
}

/** Whether it ended badly by itself, or was ended because it hung or ran too long. */
function isProgramsFault(exit: ChildExit): boolean {
  const failed = exit.exitCode !== 0 || (exit.signal !== "" && !MACHINE_SIGNALS.includes(exit.signal));
  const code = exit.stopReason?.code;
  return code === "hung" || code === "ran-too-long" || (failed && code === undefined && !exit.peerConnectionLost);
}

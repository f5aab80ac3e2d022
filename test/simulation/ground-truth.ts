import type { Effect } from "../../am/core/state/effects.ts";
import type { ExecutorModel } from "./executor-model.ts";
import type { JournalStore } from "./journal-store.ts";
import type { World } from "./world.ts";

/** What must hold at every moment of the world itself, whatever the core believes. */

/** Nothing that must be known to a later attempt is done before the journal holds it. */
export function checkDurability(journal: JournalStore, effects: readonly Effect[]): string[] {
  return effects.flatMap((effect) => {
    if (effect.type !== "send" || (effect.message.type !== "prepare" && effect.message.type !== "start-child")) {
      return [];
    }
    const { type, generation } = effect.message;
    const { lastGeneration } = journal.stored;
    return generation > lastGeneration
      ? [`${effect.to.task} is told to ${type} in generation ${generation}, the journal holds ${lastGeneration}`]
      : [];
  });
}

/** What YARN has given to the ApplicationMaster is either in its books or given back. */
export function checkContainers({ application, core, master }: World): string[] {
  if (master.isUnheard) {
    return [];
  }
  const problems: string[] = [];
  for (const [id, { state, surrendered }] of application.containers) {
    const isOurs = state === "delivered" || state === "running";
    if (isOurs && !surrendered && core.state.containers[id] === undefined) {
      problems.push(`container ${id} is leaked: YARN has it, the core knows nothing of it`);
    }
  }
  return problems;
}

export function isInGang({ spec }: World, { task }: ExecutorModel): boolean {
  const role = spec.roles.find(({ name }) => task.startsWith(`${name}:`));
  return role?.restartPolicy === "gang" && role.tracking !== "sidecar" && spec.distributedMode === "gang";
}

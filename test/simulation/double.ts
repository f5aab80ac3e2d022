import { type Core, createCore } from "../../am/core/core.ts";
import type { Effect } from "../../am/core/state/effects.ts";
import type { CoreState, Identity } from "../../am/core/state/state.ts";
import { Random } from "./random.ts";

/** A core with a second one beside it that is discarded at random moments and rebuilt from the JSON of its state. */
export function doubled(core: Core, identity: Identity, problems: string[]): Core {
  const random = new Random(identity.attempt);
  let second = createCore(core.spec, identity);
  return {
    spec: core.spec,
    state: core.state,
    step(event, nowMs) {
      if (random.chance(0.3)) {
        second = createCore(core.spec, identity, { state: rebuilt(second.state) });
      }
      // A core keeps and changes the journal that it is given.
      const own = event.type === "recovered" ? structuredClone(event) : event;
      const effects = core.step(event, nowMs);
      const others = second.step(own, nowMs);
      const [decided, expected] =
        JSON.stringify(others) === JSON.stringify(effects) ? [] : [others, effects].map(inOrder);
      if (decided !== expected) {
        problems.push(`rebuilt from its JSON the core decides otherwise: ${decided} for ${expected}`);
      }
      return effects;
    },
  };
}

/** The effects as JSON, with the names of each record in a fixed order, because their order means nothing. */
function inOrder(effects: readonly Effect[]): string {
  const read = effects.map((effect) =>
    effect.type === "journal"
      ? { ...effect, snapshot: JSON.parse(effect.snapshot), part: JSON.parse(effect.part ?? "null") }
      : effect,
  );
  return JSON.stringify(read, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

function rebuilt(state: CoreState): CoreState {
  return JSON.parse(JSON.stringify(state));
}

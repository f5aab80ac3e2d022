import { groupPlaces, placeWords } from "../../../src/job/place-groups.ts";
import type { TaskRecord } from "../state/records.ts";
import { gangOf, type Step, tasksOf } from "../state/step.ts";

/** Where the tasks of a gang stood that makes no progress. */
export interface Standing {
  /** `2 of 3 in all_reduce train.py:27`, `worker:2 at train.py:26` */
  readonly places: readonly string[];
  /** The only one that does not wait for the others: they wait for it. Undefined: that is not sure. */
  readonly odd?: TaskRecord;
  /** Its last calls, else those of the task that was asked first. */
  readonly lines: readonly string[];
}

/** Undefined: nobody was asked, or nobody said. */
export function standingOf(step: Step, hung: TaskRecord): Standing | undefined {
  const asked = tasksOf(step, gangOf(step, hung)).filter(({ place }) => place?.generation === hung.generation);
  const known = asked.flatMap((task) => (task.place?.where ? [{ task, place: task.place }] : []));
  if (known.length === 0) {
    return undefined;
  }
  const groups = groupPlaces(known.map(({ task, place }) => [task.id, place.where]));
  const silent = asked.length - known.length;
  const unknown = silent === 0 ? [] : [`of ${silent} that is not known`];
  const others = known.filter(({ place }) => !place.isExchange);
  const [first] = others;
  const isSure = others.length === 1 && silent === 0 && known.length > 1 && groups.length === 2;
  const odd = isSure ? first : undefined;
  return {
    places: [...groups.map((group) => placeWords(group, asked.length)), ...unknown],
    ...(odd && { odd: odd.task }),
    lines: odd?.place.lines ?? [],
  };
}

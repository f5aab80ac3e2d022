import { type Place, placeOf } from "./diagnosis/python-stacks.ts";
import type { TaskPlace } from "./execution.ts";
import { arrayOf, count, object, string } from "./shape.ts";

/** The longest line that is kept. */
const MOST_CHARACTERS = 500;

/** One process of a task's program: its Python stacks, or why there are none. */
export interface ProcessStacks {
  readonly pid: number;
  readonly parent: number;
  /** The name of the executable, `python3.11`. */
  readonly program: string;
  /** The stacks of all its threads, in the format of Python's faulthandler. */
  readonly stacks?: string;
  readonly why?: string;
}

/** @throws ShapeError */
export const readProcessStacks = arrayOf(
  object<ProcessStacks>({
    required: { pid: count, parent: count, program: string },
    optional: { stacks: string, why: string },
  }),
);

/** A process whose place in the code is known. */
export interface PlacedProcess {
  readonly pid: number;
  readonly place: Place;
}

/** Where a task is in its code; undefined: none of its processes shows that. */
export function taskPlaceOf(processes: readonly ProcessStacks[]): TaskPlace | undefined {
  const places = leadingProcesses(processes).map(({ place }) => place);
  const [first] = places;
  return (
    first && {
      where: [...new Set(places.map(({ where }) => where))].join(", "),
      isExchange: places.every(({ isExchange }) => isExchange),
      lines: first.lines.map((line) => line.slice(0, MOST_CHARACTERS)),
    }
  );
}

/**
 * The processes that show where a task is: those that run the job's own code, without helpers of these such as a data loader's
 * processes; otherwise all whose place is known.
 */
export function leadingProcesses(processes: readonly ProcessStacks[]): readonly PlacedProcess[] {
  const placed = processes.flatMap(({ pid, parent, stacks }) => {
    const place = stacks === undefined ? undefined : placeOf(stacks);
    return place === undefined ? [] : [{ pid, parent, place }];
  });
  const own = placed.filter(({ place }) => place.isOwn);
  const leading = own.filter(({ parent }) => !own.some(({ pid }) => pid === parent));
  return leading.length > 0 ? leading : placed;
}

/** Tasks, or processes of tasks, at the same place in the code. */
export interface PlaceGroup {
  readonly where: string;
  readonly who: readonly string[];
}

/** The largest group first. */
export function groupPlaces(places: Iterable<readonly [who: string, where: string]>): readonly PlaceGroup[] {
  const groups = new Map<string, string[]>();
  for (const [who, where] of places) groups.set(where, [...(groups.get(where) ?? []), who]);
  return [...groups].map(([where, who]) => ({ where, who })).sort((a, b) => b.who.length - a.who.length);
}

/** `2 of 3 in all_reduce train.py:27`, `worker:2 at train.py:26` */
export function placeWords({ where, who }: PlaceGroup, all: number): string {
  const [only = ""] = who;
  return who.length === 1 ? `${only} ${where}` : `${who.length} of ${all} ${where}`;
}

/** Tasks, or processes of tasks, that stand at the same place. */
export interface PlaceGroup {
  readonly where: string;
  readonly who: readonly string[];
}

/** Those of the most first. */
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

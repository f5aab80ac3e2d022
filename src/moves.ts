/** One line of a machine's table: on this, from any of these phases, to that one. */
export interface Row<Phase extends string, On extends string = string> {
  readonly on: On;
  readonly from: readonly Phase[];
  /** `ignored`: it comes in these phases as well, and changes nothing. */
  readonly to: Phase | "ignored";
  /** A later attempt of the ApplicationMaster must know of it: the next snapshot of the journal holds it. The executor has no journal. */
  readonly durable?: boolean;
  /** The function in which it happens. */
  readonly does: string;
}

/** All that may become of one kind of thing: docs/states.md is made of these tables. */
export interface Machine<Phase extends string, On extends string> {
  readonly name: string;
  /** What each phase means. */
  readonly phases: Readonly<Record<Phase, string>>;
  /** Phases that often come together, by what they have in common. */
  readonly groups: Readonly<Record<string, readonly Phase[]>>;
  readonly rows: readonly Row<Phase, On>[];
  /** By what happens and the phase in which it does. */
  readonly lines: ReadonlyMap<string, Row<Phase, On>>;
}

export function machine<Phase extends string, On extends string>(
  table: Omit<Machine<Phase, On>, "lines">,
): Machine<Phase, On> {
  const lines = table.rows.flatMap((row) =>
    row.from.map((from): [string, Row<Phase, On>] => [lineName(row.on, from), row]),
  );
  const byName = new Map(lines);
  if (byName.size < lines.length) {
    throw new RangeError(`two rows of the table of ${table.name} begin in the same phase on the same event`);
  }
  return { ...table, lines: byName };
}

/** What the table says of that in this phase. */
export function rowOf<Phase extends string, On extends string>(
  { lines }: Machine<Phase, On>,
  phase: Phase,
  on: On,
): Row<Phase, On> | undefined {
  return lines.get(lineName(on, phase));
}

/** Whether anything changes when that happens in this phase. */
export function mayMove<Phase extends string, On extends string>(
  table: Machine<Phase, On>,
  phase: Phase,
  on: On,
): boolean {
  const to = rowOf(table, phase, on)?.to;
  return to !== undefined && to !== "ignored";
}

function lineName(on: string, from: string): string {
  return `${on} ${from}`;
}

/** One row of a state machine's table: on this event, from any of these phases, to that phase. */
export interface Row<Phase extends string, On extends string = string> {
  readonly on: On;
  readonly from: readonly Phase[];
  /** `ignored`: the event also occurs in these phases, and changes nothing. */
  readonly to: Phase | "ignored";
  /** A later attempt of the ApplicationMaster must know of it, so the journal's next snapshot includes it. The executor has no journal. */
  readonly durable?: boolean;
  /** The function that carries it out. */
  readonly does: string;
}

/** Every transition that one kind of thing can make: docs/states.md is generated from these tables. */
export interface Machine<Phase extends string, On extends string> {
  readonly name: string;
  /** What each phase means. */
  readonly phases: Readonly<Record<Phase, string>>;
  /** Phases that often occur together, under the name of what they have in common. */
  readonly groups: Readonly<Record<string, readonly Phase[]>>;
  readonly rows: readonly Row<Phase, On>[];
  /** Rows by event and by the phase in which it occurs. */
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

/** The table's row for this event in this phase. */
export function rowOf<Phase extends string, On extends string>(
  { lines }: Machine<Phase, On>,
  phase: Phase,
  on: On,
): Row<Phase, On> | undefined {
  return lines.get(lineName(on, phase));
}

/** Whether this event changes anything in this phase. */
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

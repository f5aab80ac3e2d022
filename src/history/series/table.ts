import { SeriesRing, type SeriesRule } from "./ring.ts";

/** For jobs with few tasks and with many: all series together stay within the ApplicationMaster's memory. */
const spansByTasks = [
  { mostTasks: 100, spans: 480 },
  { mostTasks: 1_000, spans: 240 },
  { mostTasks: 4_000, spans: 120 },
  { mostTasks: Number.POSITIVE_INFINITY, spans: 60 },
];
/** A task whose series take this many places gets no more spare ones: a program may report 32 metrics, with new names each time. */
const MOST_PLACES = 22;
/** The initial length of a span: about the interval at which executors measure. */
export const FIRST_SPAN_MS = 5_000;

/** A measured quantity. `spare` marks one that the program defined. */
export interface Quantity {
  readonly name: string;
  readonly rule: SeriesRule;
  readonly isSpare?: boolean;
}

interface TaskRings {
  readonly byName: Map<string, SeriesRing>;
  places: number;
}

/** Quantities of a single GPU are stored in whole per cent: four such series take the space of one other. */
export function isOfOneGpu(name: string): boolean {
  return /^gpu(-memory)?:\d+$/.test(name);
}

/** One quantity of one task. The first value belongs to span `first`; null: nothing was received in that span. */
export interface TaskSeries {
  readonly name: string;
  readonly rule: SeriesRule;
  readonly first: number;
  readonly values: readonly (number | null)[];
}

/**
 * Quantities of the tasks of a job, all on one time axis: spans of equal length from a starting time. Each has a fixed number of spans,
 * whose length doubles for all at once when time exceeds them.
 */
export class SeriesTable {
  readonly fromMs: number;
  readonly spans: number;
  #spanMs: number;
  readonly #rings = new Map<string, TaskRings>();

  /** @param tasks of the job: their number determines the number of spans */
  constructor(fromMs: number, tasks: number, spanMs: number = FIRST_SPAN_MS) {
    this.fromMs = fromMs;
    this.#spanMs = spanMs;
    this.spans = spansByTasks.find(({ mostTasks }) => tasks <= mostTasks)?.spans ?? 0;
  }

  get spanMs(): number {
    return this.#spanMs;
  }

  get tasks(): readonly string[] {
    return [...this.#rings.keys()];
  }

  /** The memory of all rings. */
  get bytes(): number {
    return [...this.#rings.values()].reduce((sum, { byName }) => sum + sumOf(byName), 0);
  }

  /** A value from before the table's start counts for its first span: a clock may have been set back. */
  add(task: string, quantity: Quantity, atMs: number, value: number): void {
    const ring = this.#ring(task, quantity);
    if (ring === undefined || !Number.isFinite(value)) return;
    while (atMs - this.fromMs >= this.#spanMs * this.spans) this.#halve();
    ring.add(Math.max(0, Math.floor((atMs - this.fromMs) / this.#spanMs)), value);
  }

  /** Adds what another table received for a task, at the corresponding times on this table's axis. */
  addAll(task: string, series: readonly TaskSeries[], { fromMs, spanMs }: { fromMs: number; spanMs: number }): void {
    for (const { name, rule, first, values } of series)
      for (const [index, value] of values.entries())
        if (value !== null) this.add(task, { name, rule }, fromMs + (first + index) * spanMs, value);
  }

  /** All series of a task, except those without any value. */
  seriesOf(task: string): TaskSeries[] {
    return [...(this.#rings.get(task)?.byName ?? [])].flatMap(([name, ring]) => {
      const values = Array.from({ length: this.spans }, (_, span) => ring.at(span));
      const first = values.findIndex((value) => !Number.isNaN(value));
      if (first < 0) return [];
      const last = values.findLastIndex((value) => !Number.isNaN(value));
      const heard = values.slice(first, last + 1).map((value) => (Number.isNaN(value) ? null : value));
      return [{ name, rule: ring.rule, first, values: heard }];
    });
  }

  #ring(task: string, { name, rule, isSpare = false }: Quantity): SeriesRing | undefined {
    const before = this.#rings.get(task);
    const known = before?.byName.get(name);
    if (known !== undefined || (isSpare && (before?.places ?? 0) >= MOST_PLACES)) return known;
    const rings = before ?? { byName: new Map<string, SeriesRing>(), places: 0 };
    this.#rings.set(task, rings);
    const ring = new SeriesRing(rule, this.spans);
    rings.byName.set(name, ring);
    rings.places += isOfOneGpu(name) ? 0.25 : 1;
    return ring;
  }

  #halve(): void {
    this.#spanMs *= 2;
    for (const { byName } of this.#rings.values()) for (const ring of byName.values()) ring.halve();
  }
}

function sumOf(rings: ReadonlyMap<string, SeriesRing>): number {
  return [...rings.values()].reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Steps per second between two spans with a value. After a restart of the program there is no rate. */
export function ratesOf(steps: readonly (number | null)[], spanMs: number): (number | null)[] {
  let [before, spans] = [steps[0] ?? 0, 0];
  return steps.slice(1).map((step) => {
    spans += 1;
    if (step === null) return null;
    const rate = step < before ? null : ((step - before) / (spans * spanMs)) * 1000;
    [before, spans] = [step, 0];
    return rate;
  });
}

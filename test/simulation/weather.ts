import type { Draws } from "./draws.ts";
import type { Random } from "./random.ts";

/** How unkind the world is, beyond the faults that happen once. Chances are between 0 and 1. */
export interface Weather {
  /** Chance that a message comes twice, much later the second time. */
  readonly duplicates: number;
  readonly surplus: number;
  readonly launchFailures: number;
  readonly completionDelayMs: number;
  /** Chance that a NodeManager does what it is told, and its answer is lost. */
  readonly lostNodeAnswers: number;
  /** Chance that the ResourceManager does what it is asked, and its answer is lost. */
  readonly lostAnswers: number;
  /** Chance that an entry of the journal is stored, and the answer is lost. */
  readonly lostJournalAnswers: number;
  /** Chance that the entry that an ApplicationMaster was writing when it died is there, but lacks its end. */
  readonly tornWrites: number;
  /** Chance that a later attempt does not reach an executor. */
  readonly failedDials: number;
  /** Chance that a program that is told to stop exits 0. */
  readonly goodStops: number;
  /** Chance that a node reports late to a ResourceManager that has restarted. */
  readonly lateNodes: number;
  /** By how much a machine's clock may be wrong, either way. */
  readonly skewMs: number;
}

export const FINE: Weather = {
  duplicates: 0,
  surplus: 0,
  launchFailures: 0,
  completionDelayMs: 0,
  lostNodeAnswers: 0,
  lostAnswers: 0,
  lostJournalAnswers: 0,
  tornWrites: 0,
  failedDials: 0,
  goodStops: 0,
  lateNodes: 0,
  skewMs: 0,
};

/** In a kind world nothing but time is lost. */
export function randomWeather({ main, wider, rarer, late }: Draws, isKind: boolean): Weather {
  return {
    ...FINE,
    duplicates: isKind ? 0 : 0.05,
    surplus: isKind ? 0 : 0.1,
    launchFailures: isKind || main.chance(0.8) ? 0 : 0.05,
    completionDelayMs: main.integer(0, 5_000),
    tornWrites: isKind ? 0 : 0.5,
    lostNodeAnswers: isKind || !wider.chance(0.1) ? 0 : 0.1,
    ...(isKind ? {} : rareWeather(rarer)),
    goodStops: wider.chance(0.3) ? 0.5 : 0,
    lateNodes: isKind || !late.chance(0.1) ? 0 : 0.5,
  };
}

/** What few networks and machines do, each of it now and then. */
function rareWeather(random: Random): Partial<Weather> {
  const rarely = (value: number): number => (random.chance(0.1) ? value : 0);
  return {
    lostAnswers: rarely(0.1),
    lostJournalAnswers: rarely(0.1),
    failedDials: rarely(0.5),
    skewMs: rarely(random.pick([1_000, 60_000, 3_600_000])),
  };
}

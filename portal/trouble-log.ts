import { countWords } from "../src/job/reasons/words.ts";
import type { Scan } from "../src/page/portal-answers.ts";

/** Prints what keeps the portal from working: once, again when it changes, and when it is over. */
export class TroubleLog {
  readonly #say: (line: string) => void;
  #told: ReadonlyMap<string, string> = new Map();

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  /** Called after each scan. */
  tell(scan: Scan): void {
    const troubles = new Map(troublesOf(scan));
    for (const [what, why] of troubles) if (this.#told.get(what) !== why) this.#say(`${what}: ${why}`);
    for (const what of this.#told.keys()) if (!troubles.has(what)) this.#say(`${what}: no more`);
    this.#told = troubles;
  }
}

function troublesOf({ trouble, yarnTrouble, keepTrouble, emptyPlaces, unreadable }: Scan): [string, string][] {
  const [first] = unreadable;
  const some: readonly [string, string | undefined][] = [
    ["the history cannot be read", trouble],
    ["the ResourceManager does not say which jobs run", yarnTrouble],
    ["what was read is not kept for the next start (tony.portal.state-dir)", keepTrouble],
    ["there is no job yet", emptyPlaces && `none in ${emptyPlaces.join(", nor in ")}`],
    [
      "histories of jobs cannot be read",
      first && `${countWords(unreadable.length, "job")}, such as ${first.folder}: ${first.why}`,
    ],
  ];
  return some.flatMap(([what, why]) => (why === undefined ? [] : [[what, why]]));
}

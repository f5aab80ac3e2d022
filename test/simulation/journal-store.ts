import { isSnapshot, type Snapshot } from "../../am/core/journal/journal.ts";
import { decodeJournalEntry, encodeJournalEntry } from "../../src/journal/entry.ts";
import { whole } from "../../src/journal/reader.ts";

/** What HDFS holds of the job's journal, whatever the core believes about it. */
export class JournalStore {
  isDown = false;
  /** Whether another attempt may read the text. */
  isKept = false;
  /** Whether an entry was ever torn. */
  wasTorn = false;
  readonly #applicationId: string;
  /** The text of the newest whole entry. */
  #text: string | undefined;
  #newest: { readonly snapshot: unknown } | undefined;
  /** The parts that snapshots leave out, by the sequence of the first snapshot that left them out. */
  readonly #parts = new Map<number, string>();
  /** A newer entry that is incomplete. */
  #torn: string | undefined;

  constructor(applicationId: string) {
    this.#applicationId = applicationId;
  }

  /**
   * The text that is stored of a snapshot: all of it where another attempt may read it, otherwise only what executors and the
   * judge read.
   */
  textOf(snapshot: object): string {
    if (this.isKept || !isSnapshot(snapshot, this.#applicationId)) return JSON.stringify(snapshot);
    const { journalVersion, applicationId, lastGeneration, over } = snapshot;
    const tasks = snapshot.tasks.map(({ id, generation, containerId }) => ({ id, generation, containerId }));
    return JSON.stringify({ journalVersion, applicationId, lastGeneration, tasks, over });
  }

  /** Stores the part beside a snapshot, perhaps without the snapshot. */
  keepPart(sequence: number, part: string | undefined): void {
    if (part !== undefined) this.#parts.set(sequence, part);
  }

  keep(snapshot: string): void {
    this.#text = snapshot;
    this.#newest = undefined;
    this.#torn = undefined;
  }

  /** Its writer died: the newest entry lacks its end. @param share how much of it is there, below 1 */
  tear(attempt: number, sequence: number, snapshot: string, share: number): void {
    const whole = Buffer.from(encodeJournalEntry({ attempt, sequence }, snapshot)).toString();
    this.#torn = whole.slice(0, Math.floor(whole.length * share));
    this.wasTorn = true;
  }

  /** The whole entry that was stored last. */
  get stored(): Pick<Snapshot, "lastGeneration"> {
    const snapshot = this.#snapshot;
    return isSnapshot(snapshot, this.#applicationId) ? snapshot : { lastGeneration: 0 };
  }

  /** The newest entry as an executor reads it; undefined where nothing was written. Throws where the entry is torn. */
  get newest(): unknown {
    return this.#torn === undefined ? this.#snapshot : decodeJournalEntry(this.#torn).snapshot;
  }

  /** The newest whole entry as a later attempt reads it; undefined where there is none. */
  read(): unknown {
    const newest = () =>
      this.#text === undefined || !this.isKept ? undefined : (this.#readTorn() ?? JSON.parse(this.#text));
    return this.wholeOf(newest());
  }

  /** The snapshot as a later attempt reads it, with the parts that it left out. */
  wholeOf(snapshot: unknown): unknown {
    const sequences = isSnapshot(snapshot, this.#applicationId) ? (snapshot.parts ?? []) : [];
    return whole(
      snapshot,
      sequences.map((sequence) => JSON.parse(this.#parts.get(sequence) ?? "")),
    );
  }

  get #snapshot(): unknown {
    this.#newest ??= { snapshot: this.#text === undefined ? undefined : JSON.parse(this.#text) };
    return this.#newest.snapshot;
  }

  #readTorn(): unknown {
    try {
      return this.#torn === undefined ? undefined : decodeJournalEntry(this.#torn).snapshot;
    } catch {
      return undefined;
    }
  }
}

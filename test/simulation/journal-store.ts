import { isSnapshot, type Snapshot } from "../../am/core/journal/journal.ts";

/** What HDFS holds of the job's journal, whatever the core believes of it. */
export class JournalStore {
  isDown = false;
  /** The text is kept only where another attempt may read it. */
  isKept = false;
  /** Of the entry that was stored last. */
  stored: Pick<Snapshot, "lastGeneration" | "outcome"> = { lastGeneration: 0, outcome: undefined };
  readonly #applicationId: string;
  #text: string | undefined;

  constructor(applicationId: string) {
    this.#applicationId = applicationId;
  }

  keep(snapshot: unknown): void {
    this.#text = this.isKept ? JSON.stringify(snapshot) : undefined;
    if (isSnapshot(snapshot, this.#applicationId)) {
      this.stored = { lastGeneration: snapshot.lastGeneration, outcome: snapshot.outcome };
    }
  }

  /** Undefined where nothing was written. */
  read(): unknown {
    return this.#text === undefined ? undefined : JSON.parse(this.#text);
  }
}

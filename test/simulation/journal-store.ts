import { isSnapshot, type Snapshot } from "../../am/core/journal/journal.ts";

/** What HDFS holds of the job's journal, whatever the core believes of it. */
export class JournalStore {
  isDown = false;
  /** The text is kept only where another attempt may read it. */
  isKept = false;
  readonly #applicationId: string;
  #text: string | undefined;
  #stored: Pick<Snapshot, "lastGeneration" | "outcome"> | undefined;

  constructor(applicationId: string) {
    this.#applicationId = applicationId;
  }

  keep(snapshot: string): void {
    this.#text = snapshot;
    this.#stored = undefined;
  }

  /** Of the entry that was stored last. */
  get stored(): Pick<Snapshot, "lastGeneration" | "outcome"> {
    this.#stored ??= this.#readStored();
    return this.#stored;
  }

  #readStored(): Pick<Snapshot, "lastGeneration" | "outcome"> {
    const snapshot: unknown = this.#text === undefined ? undefined : JSON.parse(this.#text);
    return isSnapshot(snapshot, this.#applicationId) ? snapshot : { lastGeneration: 0, outcome: undefined };
  }

  /** Undefined where nothing was written. */
  read(): unknown {
    return this.#text === undefined || !this.isKept ? undefined : JSON.parse(this.#text);
  }
}

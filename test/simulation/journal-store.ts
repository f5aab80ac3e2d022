import { isSnapshot, type Snapshot } from "../../am/core/journal/journal.ts";

/** What HDFS holds of the job's journal, whatever the core believes of it. */
export class JournalStore {
  isDown = false;
  /** The text is kept only where another attempt may read it. */
  isKept = false;
  readonly #applicationId: string;
  #text: string | undefined;
  #newest: { readonly snapshot: unknown } | undefined;

  constructor(applicationId: string) {
    this.#applicationId = applicationId;
  }

  keep(snapshot: string): void {
    this.#text = snapshot;
    this.#newest = undefined;
  }

  /** Of the entry that was stored last. */
  get stored(): Pick<Snapshot, "lastGeneration" | "outcome"> {
    const { newest } = this;
    return isSnapshot(newest, this.#applicationId) ? newest : { lastGeneration: 0, outcome: undefined };
  }

  /** The entry that was stored last, to be looked at only; undefined where nothing was written. */
  get newest(): unknown {
    this.#newest ??= { snapshot: this.#text === undefined ? undefined : JSON.parse(this.#text) };
    return this.#newest.snapshot;
  }

  /** Undefined where nothing was written. */
  read(): unknown {
    return this.#text === undefined || !this.isKept ? undefined : JSON.parse(this.#text);
  }
}

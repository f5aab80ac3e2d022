import type { Watched, WatchWanted } from "../../src/job/store/watched.ts";
import type { StoreState } from "../core/store/records.ts";
import { watch } from "../core/store/watching.ts";

/** Where those who watch are told: it resolves when there is room for more. */
type Tell = (news: Watched) => Promise<void>;

interface Watch {
  wanted: WatchWanted;
  readonly tell: Tell;
  /** The revision that was told last. */
  toldRevision: number;
  isBusy: boolean;
}

/** Where nothing of their range changes for so many revisions, they are told how far the store is: what is older is forgotten at some time. */
const PROGRESS_REVISIONS = 10_000;

/** Those who watch a store. Nothing is kept for one that reads slowly: it is told what there is when it has room. */
export class StoreWatches {
  readonly #watches = new Set<Watch>();

  /** Begins, and goes on until it is told `compacted` or `reset`. @returns ends it */
  begin(state: StoreState, wanted: WatchWanted, tell: Tell): () => void {
    const begun: Watch = { wanted, tell, toldRevision: -PROGRESS_REVISIONS, isBusy: false };
    this.#watches.add(begun);
    void this.#tell(state, begun);
    return () => void this.#watches.delete(begun);
  }

  changed(state: StoreState): void {
    for (const one of this.#watches) void this.#tell(state, one);
  }

  async #tell(state: StoreState, one: Watch): Promise<void> {
    if (one.isBusy) return;
    one.isBusy = true;
    while (this.#watches.has(one)) {
      const news = watch(state, one.wanted);
      const { attempt, revision } = news;
      const isNews = news.type !== "changes" || news.changes.length > 0;
      if (news.type !== "changes") this.#watches.delete(one);
      one.wanted = { ...one.wanted, after: { attempt, revision } };
      if (!isNews && revision < one.toldRevision + PROGRESS_REVISIONS) break;
      one.toldRevision = revision;
      await one.tell(news);
    }
    one.isBusy = false;
  }
}

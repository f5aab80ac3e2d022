import { TonyError } from "../../src/errors.ts";
import type { WallClock } from "../../src/hadoop/clock.ts";
import type { Life, StoreAnswer, Transaction } from "../../src/job/store/transaction.ts";
import type { Watched, WatchWanted } from "../../src/job/store/watched.ts";
import type { Log } from "../../src/log.ts";
import { recoveredStore } from "../core/store/journaling.ts";
import { lifeOfName, type StoreState } from "../core/store/records.ts";
import { mayUse, type Rights } from "../core/store/rights.ts";
import { createStore, type Store, type StoreEffect, type StoreEvent } from "../core/store/store.ts";
import type { StoreFile } from "../core/store/store-file.ts";
import { watch } from "../core/store/watching.ts";
import { OwnCore } from "../storage/own-core.ts";
import type { SealedJournal } from "../storage/sealed-journal.ts";

/** Delivers news to a watcher; resolves when there is room for more. */
type Tell = (news: Watched) => Promise<void>;

interface Watch {
  wanted: WatchWanted;
  readonly tell: Tell;
  /** The last revision that was delivered. */
  toldRevision: number;
  isBusy: boolean;
}

/**
 * After this many revisions without a change in a watch's range, the watcher is sent the store's present revision, because older changes are
 * forgotten at some point.
 */
const PROGRESS_REVISIONS = 10_000;

/** The watches of a store. Nothing is buffered for a slow reader: it is told what there is when it has room. */
export class StoreWatches {
  readonly #watches = new Set<Watch>();

  /** Starts a watch, which goes on until it is told `compacted` or `reset`. @returns ends it */
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

export interface JobStoreOptions {
  readonly attempt: number;
  readonly clock: WallClock;
  readonly journal: Pick<SealedJournal<StoreFile>, "read" | "write">;
  readonly log: Pick<Log, "warn">;
  /** The present life of a task; undefined: it has none. */
  readonly lifeOf: (task: string) => Life | undefined;
  /** Whether it is known which tasks live: a later attempt learns it from the journal. */
  readonly knowsLives: () => boolean;
}

export interface StoreCall {
  readonly transaction: Transaction;
  readonly rights: Rights;
  /** Owned keys end with this task's present life. */
  readonly owner?: string;
  /** The life of the owner that asks: owned keys are bound to no other. */
  readonly generation?: number;
  /** The answer waits until everything that it reports is in the journal. */
  readonly durable: boolean;
}

/**
 * Carries out what a job's key-value store decides. Nothing is read, kept or written before the first call, which then reads what
 * earlier attempts left.
 */
export class JobStore {
  readonly #options: JobStoreOptions;
  #opening: Promise<Store> | undefined;
  #store: Store | undefined;
  readonly #watches = new StoreWatches();
  readonly #own: OwnCore<StoreEvent, StoreAnswer>;

  constructor(options: JobStoreOptions) {
    this.#options = options;
    const { clock, journal, log } = options;
    const warn = (why: string) => log.warn("store-not-journaled", `The key-value store is not journaled yet: ${why}`);
    this.#own = new OwnCore({ clock, journal, warn, post: (event) => this.#post(event) });
  }

  /** Rejects where what earlier attempts left cannot be read. */
  async call({ transaction, rights, owner, generation, durable }: StoreCall): Promise<StoreAnswer> {
    this.#store ??= await this.#opened();
    const present = owner === undefined ? undefined : this.#options.lifeOf(owner);
    const life = generation === undefined || generation === present?.generation ? present : undefined;
    const request = { transaction, rights, durable, ...(life === undefined ? {} : { life }) };
    return await this.#own.ask((id) => ({ type: "request", id, ...request }));
  }

  /**
   * Starts a watch. Rejects as `call`, and with a TonyError (`STORE_FORBIDDEN`) where the caller may not use the range.
   * @returns ends it
   */
  async watch(wanted: WatchWanted, rights: Rights, tell: (news: Watched) => Promise<void>): Promise<() => void> {
    if (!mayUse(wanted.range, rights))
      throw new TonyError(`${wanted.range.from || "all of it"} is not yours to watch`, { code: "STORE_FORBIDDEN" });
    this.#store ??= await this.#opened();
    return this.#watches.begin(this.#store.state, wanted, tell);
  }

  /** Lives of tasks may have ended: their keys are removed. */
  look(): void {
    if (this.#store === undefined || !this.#options.knowsLives()) return;
    for (const name of Object.keys(this.#store.state.owned)) {
      const life = lifeOfName(name);
      if (this.#options.lifeOf(life.task)?.generation !== life.generation) this.#post({ type: "life-ended", life });
    }
  }

  /** Concurrent calls share one reading; after a failure the next call tries again. */
  async #opened(): Promise<Store> {
    this.#opening ??= this.#read().finally(() => {
      this.#opening = undefined;
    });
    const store = await this.#opening;
    this.#store ??= store;
    this.look();
    return this.#store;
  }

  async #read(): Promise<Store> {
    const { attempt, journal } = this.#options;
    return createStore(recoveredStore(attempt, await journal.read()));
  }

  #post(event: StoreEvent): void {
    const effects = this.#store?.step(event, this.#options.clock.nowMs()) ?? [];
    for (const effect of effects) this.#carryOut(effect);
  }

  #carryOut(effect: StoreEffect): void {
    switch (effect.type) {
      case "answer":
        this.#own.answer(effect);
        break;
      case "journal":
        void this.#own.write(effect);
        break;
      case "wake-at":
        this.#own.wakeAt(effect.atMs);
        break;
      case "changed":
        if (this.#store !== undefined) this.#watches.changed(this.#store.state);
        break;
    }
  }
}

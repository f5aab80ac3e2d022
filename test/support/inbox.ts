/** Keeps what arrived, in order; a test awaits what it expects instead of sleeping. */
export class Inbox<Item> {
  readonly #items: Item[] = [];
  #waiting: { readonly wanted: (item: Item) => boolean; readonly resolve: (item: Item) => void }[] = [];

  put(item: Item): void {
    const index = this.#waiting.findIndex(({ wanted }) => wanted(item));
    const [waiter] = index < 0 ? [] : this.#waiting.splice(index, 1);
    if (waiter) waiter.resolve(item);
    else this.#items.push(item);
  }

  /**
   * The first matching item, whether kept already or still to come; it is taken out. Rejects after the time with what has
   * arrived instead.
   */
  next<Wanted extends Item>(
    wanted: ((item: Item) => item is Wanted) | ((item: Item) => boolean) = () => true,
    withinMs = 60_000,
  ): Promise<Wanted> {
    const index = this.#items.findIndex(wanted);
    const [item] = index < 0 ? [] : this.#items.splice(index, 1);
    if (index >= 0) return Promise.resolve(item as Wanted);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`nothing fitting within ${withinMs} ms; arrived: ${JSON.stringify(this.#items, shorten)}`));
      }, withinMs);
      this.#waiting.push({
        wanted,
        resolve: (arrived) => {
          clearTimeout(timer);
          resolve(arrived as Wanted);
        },
      });
    });
  }

  /** What has arrived and was not taken. */
  get rest(): readonly Item[] {
    return this.#items;
  }
}

function shorten(key: string, value: unknown): unknown {
  return key === "link" ? "(link)" : value;
}

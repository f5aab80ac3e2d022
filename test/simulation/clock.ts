interface Entry {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

/**
 * Virtual time: scheduled calls run in the order of their times and, where times are equal, in the order in which they
 * were scheduled.
 */
export class VirtualClock {
  nowMs = 1_700_000_000_000;
  #order = 0;
  readonly #heap: Entry[] = [];

  after(delayMs: number, run: () => void): void {
    const heap = this.#heap;
    const entry = { atMs: this.nowMs + Math.max(0, delayMs), order: this.#order++, run };
    let position = heap.length;
    heap.push(entry);
    while (position > 0) {
      const parentAt = (position - 1) >> 1;
      const parent = heap[parentAt];
      if (parent === undefined || isBefore(parent, entry)) {
        break;
      }
      heap[position] = parent;
      position = parentAt;
    }
    heap[position] = entry;
  }

  /** Runs the next entry; false when there is none. */
  advance(): boolean {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined) {
      return false;
    }
    if (heap.length > 0) {
      sink(heap, last);
    }
    this.nowMs = first.atMs;
    first.run();
    return true;
  }
}

function sink(heap: Entry[], entry: Entry): void {
  let position = 0;
  for (;;) {
    let childAt = 2 * position + 1;
    let child = heap[childAt];
    if (child === undefined) {
      break;
    }
    const right = heap[childAt + 1];
    if (right !== undefined && isBefore(right, child)) {
      child = right;
      childAt++;
    }
    if (isBefore(entry, child)) {
      break;
    }
    heap[position] = child;
    position = childAt;
  }
  heap[position] = entry;
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

/** What one caller may have a server do at a time, over all its connections. */
export interface CallLimits {
  /** Calls whose request is being read. */
  readonly mostAsking: number;
  /** Calls that wait until one of those has been read. */
  readonly mostWaiting: number;
  /** Calls altogether. */
  readonly mostCalls: number;
  /** How long it may take to say what a call is for. */
  readonly askingMs: number;
}

/**
 * What a request holds of a server's memory before it is whole: itself (MOST_REQUEST_BYTES) and the 64 KiB that HTTP/2 lets a peer send
 * before somebody reads. Those that wait hold the latter alone: 4.5 MiB in all.
 */
export const usualCallLimits: CallLimits = { mostAsking: 8, mostWaiting: 32, mostCalls: 256, askingMs: 20_000 };

/** A person may follow both outputs of every task in several windows. */
export const CALLS_OF_TASK = 16;

export function callLimitsOf(tasks: number): CallLimits {
  return { ...usualCallLimits, mostCalls: usualCallLimits.mostCalls + tasks * CALLS_OF_TASK };
}

/** A call that has been let in. */
export interface EnteredCall {
  /** Its request is whole, or the first message of its stream has come. */
  asked(): void;
  /** It is over. */
  leave(): void;
}

export interface CallTurn {
  /** Its request may be read from now on. */
  readonly begin: () => void;
  /** It did not say in time what it is for. */
  readonly late: () => void;
}

interface OfCaller {
  calls: number;
  asking: number;
  readonly waiting: Entered[];
}

interface Entered extends CallTurn {
  state: "waiting" | "asking" | "asked" | "over";
  timer?: NodeJS.Timeout;
}

/** Counts the calls of each caller: no one of them can have a server hold more than little of what it sends. */
export class CallerCalls {
  readonly #limits: CallLimits;
  readonly #callers = new Map<string, OfCaller>();

  constructor(limits: CallLimits = usualCallLimits) {
    this.#limits = limits;
  }

  /** @returns undefined: the caller has too many */
  enter(caller: string, turn: CallTurn): EnteredCall | undefined {
    const own = this.#callers.get(caller) ?? { calls: 0, asking: 0, waiting: [] };
    const { mostCalls, mostWaiting } = this.#limits;
    if (own.calls >= mostCalls || own.waiting.length >= mostWaiting) return undefined;
    this.#callers.set(caller, own);
    own.calls += 1;
    const call: Entered = { ...turn, state: "waiting" };
    own.waiting.push(call);
    this.#next(own);
    return {
      asked: () => this.#read(own, call, "asked"),
      leave: () => {
        if (call.state === "over") return;
        this.#read(own, call, "over");
        own.calls -= 1;
        if (own.calls === 0) this.#callers.delete(caller);
      },
    };
  }

  #next(own: OfCaller): void {
    while (own.asking < this.#limits.mostAsking) {
      const call = own.waiting.shift();
      if (call === undefined) return;
      own.asking += 1;
      call.state = "asking";
      call.timer = setTimeout(call.late, this.#limits.askingMs).unref();
      call.begin();
    }
  }

  #read(own: OfCaller, call: Entered, state: "asked" | "over"): void {
    const before = call.state;
    // Each message of a stream says so again.
    if (before === "over" || before === state) return;
    call.state = state;
    clearTimeout(call.timer);
    if (before === "waiting") own.waiting.splice(own.waiting.indexOf(call), 1);
    if (before !== "asking") return;
    own.asking -= 1;
    this.#next(own);
  }
}

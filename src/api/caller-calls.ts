/** What a server does for one caller at a time, over all the caller's connections. */
export interface CallLimits {
  /** Calls whose request is being read. */
  readonly mostAsking: number;
  /** Calls that wait until one of those has been read. */
  readonly mostWaiting: number;
  /** Calls altogether. */
  readonly mostCalls: number;
  /** How long a call may take to send its request. */
  readonly askingMs: number;
}

/**
 * Until a request is complete, it occupies the server's memory with itself (MOST_REQUEST_BYTES) and with the 64 KiB that HTTP/2 lets a peer
 * send before anybody reads. Waiting calls occupy only the latter: 4.5 MiB in all.
 */
export const usualCallLimits: CallLimits = { mostAsking: 8, mostWaiting: 32, mostCalls: 256, askingMs: 20_000 };

/** A person may follow both outputs of every task in several windows. */
export const CALLS_OF_TASK = 16;

export function callLimitsOf(tasks: number): CallLimits {
  return { ...usualCallLimits, mostCalls: usualCallLimits.mostCalls + tasks * CALLS_OF_TASK };
}

/** A call that has been admitted. */
export interface EnteredCall {
  /** Its request is complete, or the first message of its stream has arrived. */
  asked(): void;
  /** The call has ended. */
  leave(): void;
}

export interface CallTurn {
  /** Its request may be read from now on. */
  readonly begin: () => void;
  /** It did not send its request in time. */
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

/** Counts the calls of each caller, so that no caller can make a server buffer more than a little of what it sends. */
export class CallerCalls {
  readonly #limits: CallLimits;
  readonly #callers = new Map<string, OfCaller>();

  constructor(limits: CallLimits = usualCallLimits) {
    this.#limits = limits;
  }

  /** @returns undefined: the caller has too many calls */
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
    // Every message of a stream reports this again.
    if (before === "over" || before === state) return;
    call.state = state;
    clearTimeout(call.timer);
    if (before === "waiting") own.waiting.splice(own.waiting.indexOf(call), 1);
    if (before !== "asking") return;
    own.asking -= 1;
    this.#next(own);
  }
}

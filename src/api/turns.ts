export interface Turn {
  /** Begins now, whether or not it is its turn; once. */
  begin(): void;
  /** Lets another one begin. */
  end(): void;
}

/** Lets that many run at a time, in their order. */
export class Turns {
  readonly #most: number;
  #running = 0;
  readonly #waiting: Turn[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  take(begin: () => void): Turn {
    let state: "waiting" | "running" | "over" = "waiting";
    const turn = {
      begin: () => {
        if (state !== "waiting") return;
        state = "running";
        this.#running += 1;
        begin();
      },
      end: () => {
        if (state === "running") this.#running -= 1;
        state = "over";
        this.#next();
      },
    };
    this.#waiting.push(turn);
    this.#next();
    return turn;
  }

  #next(): void {
    while (this.#running < this.#most) {
      const turn = this.#waiting.shift();
      if (turn === undefined) return;
      turn.begin();
    }
  }
}

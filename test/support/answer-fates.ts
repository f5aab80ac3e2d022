/** What becomes of an answer: it passes, is dropped while the connection stays, takes the connection with it, comes twice, or later. */
export type Fate = "pass" | "drop" | "cut" | "double" | { readonly delayMs: number };

/** @param nth of the answers to that method, from 1 */
export type Choose = (method: string, nth: number) => Fate;

/** Counts the answers that a proxy sees and does with each what was chosen. */
export class AnswerFates {
  /** Answers seen, by method. */
  readonly answers = new Map<string, number>();
  /** Answers that did not pass as they were. */
  lost = 0;
  readonly #choose: Choose;

  constructor(choose: Choose) {
    this.#choose = choose;
  }

  /** @param method of the call that is answered; what answers no call passes */
  meet(method: string | undefined, { pass, cut }: { readonly pass: () => void; readonly cut: () => void }): void {
    const fate = method === undefined ? "pass" : this.#fateOf(method);
    if (fate === "pass") pass();
    else if (fate === "cut") cut();
    else if (fate === "double") {
      pass();
      pass();
    } else if (fate !== "drop") setTimeout(pass, fate.delayMs).unref();
  }

  #fateOf(method: string): Fate {
    const nth = (this.answers.get(method) ?? 0) + 1;
    this.answers.set(method, nth);
    const fate = this.#choose(method, nth);
    if (fate !== "pass") this.lost += 1;
    return fate;
  }
}

/** The first answer to each method has this fate. */
export const firstOf =
  (fate: Fate): Choose =>
  (_, nth) =>
    nth === 1 ? fate : "pass";

/** The first answer to each method, and every third after it. */
export const everyThird =
  (fate: Fate): Choose =>
  (_, nth) =>
    nth % 3 === 1 ? fate : "pass";

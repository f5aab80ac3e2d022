/**
 * What happens to an answer: it passes, is dropped while the connection stays, takes the connection with it, comes twice, or comes
 * later.
 */
export type Fate = "pass" | "drop" | "cut" | "double" | { readonly delayMs: number };

/** @param nth the answer's number among those to that method, from 1 */
export type Choose = (method: string, nth: number) => Fate;

/** Counts the answers that a proxy sees, and does with each what was chosen for it. */
export class AnswerFates {
  /** Answers seen, by method. */
  readonly answers = new Map<string, number>();
  /** How many answers did not pass as they were. */
  lost = 0;
  readonly #choose: Choose;

  constructor(choose: Choose) {
    this.#choose = choose;
  }

  /** @param method the method of the call that is answered; undefined for an answer to no call, which passes */
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

/** The first answer to each method has this fate; all others pass. */
export const firstOf =
  (fate: Fate): Choose =>
  (_, nth) =>
    nth === 1 ? fate : "pass";

/** The first answer to each method has this fate, and so has every third after it. */
export const everyThird =
  (fate: Fate): Choose =>
  (_, nth) =>
    nth % 3 === 1 ? fate : "pass";

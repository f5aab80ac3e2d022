/** How long a program is suspended, as far as the ApplicationMaster has not been told. */
export class Suspension {
  readonly #nowMs: () => number;
  #sinceMs: number | undefined;
  #endedMs = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get lasts(): boolean {
    return this.#sinceMs !== undefined;
  }

  /** Of one that lasts at least 1: 0 would say that there was none. */
  get untoldMs(): number {
    return this.#endedMs + (this.#sinceMs === undefined ? 0 : Math.max(1, this.#nowMs() - this.#sinceMs));
  }

  begin(): void {
    this.#sinceMs = this.#nowMs();
  }

  end(): void {
    this.#endedMs = this.untoldMs;
    this.#sinceMs = undefined;
  }

  /** The ApplicationMaster has been told. */
  told(): void {
    this.#endedMs = 0;
  }
}

import { formatHostPort, type HostPort } from "../conf/values.ts";

/** The servers of one service, one of which is active: calls go to the current one until it turns out not to be. */
export class EndpointList {
  readonly #endpoints: readonly HostPort[];
  #current = 0;

  /** At least one endpoint. */
  constructor(endpoints: readonly HostPort[]) {
    this.#endpoints = endpoints;
  }

  get size(): number {
    return this.#endpoints.length;
  }

  /** Throws RangeError when the list is empty. */
  get current(): HostPort {
    const endpoint = this.#endpoints[this.#current];
    if (endpoint === undefined) throw new RangeError("A service needs at least one endpoint");
    return endpoint;
  }

  /** Turns to the next one, unless somebody already left `failed`. */
  leave(failed: HostPort): void {
    if (failed === this.current) this.#current = (this.#current + 1) % this.#endpoints.length;
  }

  toString(): string {
    return this.#endpoints.map(formatHostPort).join(", ");
  }
}

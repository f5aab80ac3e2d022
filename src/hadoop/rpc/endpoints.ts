/** Where a service listens. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export function formatEndpoint({ host, port }: Endpoint): string {
  return `${host}:${port}`;
}

/** Reads `host`, `host:port` or `[v6]:port`. Undefined for anything else. */
export function parseEndpoint(address: string, defaultPort?: number): Endpoint | undefined {
  const match = /^(\[[\da-fA-F:.]+\]|[^\s:/]+)(?::(\d{1,5}))?$/.exec(address);
  const host = match?.[1]?.replace(/^\[|\]$/g, "");
  const port = match?.[2] === undefined ? defaultPort : Number(match[2]);
  if (host === undefined || port === undefined || port < 1 || port > 65_535) return undefined;
  return { host, port };
}

/** The servers of one service, one of which is active: calls go to the current one until it turns out not to be. */
export class EndpointList {
  readonly #endpoints: readonly Endpoint[];
  #current = 0;

  /** At least one endpoint. */
  constructor(endpoints: readonly Endpoint[]) {
    this.#endpoints = endpoints;
  }

  get size(): number {
    return this.#endpoints.length;
  }

  /** Throws RangeError when the list is empty. */
  get current(): Endpoint {
    const endpoint = this.#endpoints[this.#current];
    if (endpoint === undefined) throw new RangeError("A service needs at least one endpoint");
    return endpoint;
  }

  /** Turns to the next one, unless somebody already left `failed`. */
  leave(failed: Endpoint): void {
    if (failed === this.current) this.#current = (this.#current + 1) % this.#endpoints.length;
  }

  toString(): string {
    return this.#endpoints.map(formatEndpoint).join(", ");
  }
}

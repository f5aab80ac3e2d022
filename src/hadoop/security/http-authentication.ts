/** What a request carries to show who asks. */
export interface HttpProof {
  /** Of the query: `user.name`, `delegation`. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** By lower-case name: `authorization`, `cookie`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A way to show one web server who we are, for one request and its repetitions. */
export interface HttpAuthentication {
  /** What the request carries at first: nothing, for a mechanism that waits to be asked. */
  begin(): HttpProof | Promise<HttpProof>;
  /**
   * Answers HTTP 401.
   * @param challenges the values of `WWW-Authenticate`: `Negotiate`, `Basic realm="…"` (RFC 9110 §11.6.1)
   * @returns what the same request carries when it is sent again; undefined: there is nothing left to show
   * @throws AuthenticationError for a server that is not the one expected
   */
  respond?(challenges: readonly string[]): Promise<HttpProof | undefined>;
  /**
   * Sees the headers, by lower-case name, and the status of the answer that is no 401: the server's own proof (RFC 4559 §4) and cookies to keep.
   * @throws AuthenticationError when the server could not prove itself; its answer is dropped then
   */
  complete?(
    headers: Readonly<Record<string, string | readonly string[] | undefined>>,
    status: number,
  ): void | Promise<void>;
}

import { GssError } from "./gss-api.ts";
import { continueNeeded, type GssFunctions, type Handle, type Held } from "./gss-functions.ts";
import type { Koffi } from "./koffi-package.ts";
import { bufferOf, displayed, loadGssFunctions, longestLife } from "./libgssapi.ts";

/** GSS_C_ACCEPT */
const acceptOnly = 2;

/** A caller that a ticket has authenticated. */
export interface Accepted {
  /** With its realm: `alice@EXAMPLE.COM`. */
  readonly principal: string;
  /** The message that authenticates the service to its caller. */
  readonly answer: Buffer;
}

/** The service's side of Kerberos and SPNEGO (RFC 2743, RFC 4178): accepts callers' tickets with the keys in a keytab. */
export class GssAcceptor {
  readonly #functions: GssFunctions;
  readonly #credential: Held;

  private constructor(functions: GssFunctions, credential: Held) {
    this.#functions = functions;
    this.#credential = credential;
  }

  /**
   * @param keytab a file; every service whose key it contains is served
   * @param load set by tests only
   * @throws GssError if it has no usable key, AuthenticationError (`KERBEROS_LIBRARY_MISSING`)
   */
  static async open(keytab: string, load?: () => Promise<Koffi>): Promise<GssAcceptor> {
    const functions = await loadGssFunctions(load);
    const elements = [{ key: "keytab", value: `FILE:${keytab}` }];
    const credential: [Handle] = [0n];
    const wanted = [null, longestLife, null, acceptOnly, { count: elements.length, elements }, credential, null, null];
    await functions.onThread(functions.acquireCredential, wanted);
    return new GssAcceptor(functions, functions.held("credential", credential[0]));
  }

  /**
   * Accepts a caller's token. Kerberos needs one message each way, so no state is kept for callers that would send more.
   * @throws GssError with the library's message for a token that authenticates nobody
   */
  async accept(token: Uint8Array): Promise<Accepted> {
    const functions = this.#functions;
    const context: [Handle] = [0n];
    const caller: [Handle] = [0n];
    const answer = {};
    const given = [context, this.#credential, bufferOf(token), null, caller, null, answer, null, null, null];
    const status = await functions.onThread(functions.acceptContext, given, continueNeeded);
    functions.held("context", context[0]);
    const proof = functions.take(answer);
    if (status === continueNeeded) throw new GssError("The caller's ticket is not in its first message");
    return { principal: displayed(functions, functions.held("name", caller[0])), answer: proof };
  }
}

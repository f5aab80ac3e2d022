import { GssError } from "./gss-api.ts";
import { continueNeeded, type GssFunctions, type Handle, type Held } from "./gss-functions.ts";
import type { Koffi } from "./koffi-package.ts";
import { bufferOf, displayed, loadGssFunctions, longestLife } from "./libgssapi.ts";

/** GSS_C_ACCEPT */
const acceptOnly = 2;

/** Whom a ticket proved. */
export interface Accepted {
  /** With its realm: `alice@EXAMPLE.COM`. */
  readonly principal: string;
  /** What proves the service to its caller. */
  readonly answer: Buffer;
}

/** The service's side of Kerberos and SPNEGO (RFC 2743, RFC 4178): takes tickets of callers, by a keytab with its keys. */
export class GssAcceptor {
  readonly #functions: GssFunctions;
  readonly #credential: Held;

  private constructor(functions: GssFunctions, credential: Held) {
    this.#functions = functions;
    this.#credential = credential;
  }

  /**
   * @param keytab a file; each service whose key it has is served
   * @param load only tests set it
   * @throws GssError where it has no key that can be used, AuthenticationError (`KERBEROS_LIBRARY_MISSING`)
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
   * Takes what a caller sent. Kerberos is done with one message each way, and nothing is kept of callers who would send more.
   * @throws GssError in the library's words for what proves nobody
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

import type { HttpAuthentication, HttpProof } from "../credentials-provider.ts";
import { AuthenticationError } from "../errors.ts";
import { authenticationKey, fallbackKey } from "../security-keys.ts";
import type { Spnego, SpnegoContext } from "./spnego.ts";

export interface NegotiateOptions {
  readonly url: URL;
  readonly spnego: () => Promise<Spnego>;
  readonly cookies: SignedCookies;
  /** The user for whom a service acts. */
  readonly actFor: string | undefined;
  /** Whether the server may turn out to demand no authentication at all. */
  readonly mayBeOpen: boolean;
  /** Turns the Kerberos library's error into one for people. */
  readonly explain: (cause: unknown) => AuthenticationError;
}

type Headers = Parameters<NonNullable<HttpAuthentication["complete"]>>[0];

/**
 * HTTP's Negotiate (RFC 4559) for one request: sends a cookie if there is one, a ticket when the server demands it, and checks the server's
 * proof.
 */
export class Negotiate implements HttpAuthentication {
  readonly #options: NegotiateOptions;
  #context: SpnegoContext | undefined;
  #proved: boolean;

  constructor(options: NegotiateOptions) {
    this.#options = options;
    this.#proved = options.mayBeOpen;
  }

  begin(): HttpProof {
    const { url, cookies } = this.#options;
    const cookie = cookies.for(url);
    if (cookie === undefined) return this.#parameters();
    // An authenticated server gave it over https, and the certificate shows that this is the same server.
    this.#proved = true;
    return { ...this.#parameters(), headers: { cookie } };
  }

  async respond(challenges: readonly string[]): Promise<HttpProof | undefined> {
    const { url, cookies, spnego, explain } = this.#options;
    const challenge = tokenOf(challenges);
    cookies.forget(url);
    this.#proved = false;
    // A second challenge without a token is a refusal.
    if (challenge === undefined || (this.#context !== undefined && challenge.length === 0)) return undefined;
    try {
      this.#context ??= await (await spnego())(url.hostname);
      const { token, done } = await this.#context.step(challenge);
      this.#proved = done && challenge.length > 0;
      return { ...this.#parameters(), headers: { authorization: `Negotiate ${token.toString("base64")}` } };
    } catch (cause) {
      throw explain(cause);
    }
  }

  async complete(headers: Headers, status: number): Promise<void> {
    const { url, cookies } = this.#options;
    await this.#check(tokenOf([headers["www-authenticate"] ?? []].flat()));
    if (!this.#proved && !isRefusal(status)) throw this.#unproved();
    if (this.#proved) cookies.keep(url, [headers["set-cookie"] ?? []].flat());
  }

  #parameters(): Pick<HttpProof, "parameters"> {
    const { actFor } = this.#options;
    return actFor === undefined ? {} : { parameters: { doas: actFor } };
  }

  async #check(proof: Buffer | undefined): Promise<void> {
    if (this.#context === undefined || this.#proved || proof === undefined || proof.length === 0) return;
    const { done } = await this.#context.step(proof).catch((cause: unknown) => {
      throw this.#options.explain(cause);
    });
    this.#proved = done;
  }

  #unproved(): AuthenticationError {
    const { host } = this.#options.url;
    if (this.#context !== undefined) {
      return new AuthenticationError(
        `${host} took the Kerberos ticket and did not prove who it is: its answer is not used\n` +
          "  Hadoop's web servers send their proof with each answer; is something between here and there that drops WWW-Authenticate, or answers in its place?",
        { code: "SERVER_NOT_PROVED" },
      );
    }
    return new AuthenticationError(
      `${host} answered without asking who we are, and so did not prove who it is: its answer is not used\n` +
        `  Its HTTP must ask for Kerberos as ${authenticationKey} says; ${fallbackKey}=true allows servers that do not`,
      { code: "SERVER_NOT_SECURE" },
    );
  }
}

/**
 * Hadoop's servers refuse before they authenticate themselves, and proxies may fail: so from an unauthenticated server only failures are
 * believed.
 */
function isRefusal(status: number): boolean {
  return status === forbidden || status >= serverErrors;
}

const forbidden = 403;
const serverErrors = 500;

/** The text after `Negotiate`; empty if there is none, undefined without such a challenge. */
function tokenOf(challenges: readonly string[]): Buffer | undefined {
  for (const challenge of challenges.flatMap((value) => value.split(","))) {
    const [, token] = /^\s*Negotiate(?:\s+([\w+/=]+))?\s*$/i.exec(challenge) ?? [undefined, undefined];
    if (/^\s*Negotiate\b/i.test(challenge)) return Buffer.from(token ?? "", "base64");
  }
  return undefined;
}

const cookieName = "hadoop.auth";

/**
 * The cookies by which web servers recognise an authenticated caller for some hours
 * (org.apache.hadoop.security.authentication.client.AuthenticatedURL), each kept for the server that set it. Whoever reads one can use it
 * like a ticket, so none is kept over http.
 */
export class SignedCookies {
  readonly #byOrigin = new Map<string, string>();

  /** The value of the header `Cookie`. */
  for(url: URL): string | undefined {
    return this.#byOrigin.get(url.origin);
  }

  forget(url: URL): void {
    this.#byOrigin.delete(url.origin);
  }

  /** @param given values of `Set-Cookie` */
  keep(url: URL, given: readonly string[]): void {
    if (url.protocol !== "https:") return;
    for (const text of given) {
      const [pair = ""] = text.split(";");
      const value = pair.trim().startsWith(`${cookieName}=`) ? pair.trim().slice(cookieName.length + 1) : undefined;
      if (value === undefined) continue;
      if (value.replaceAll('"', "") === "") this.forget(url);
      else this.#byOrigin.set(url.origin, `${cookieName}=${value}`);
    }
  }
}

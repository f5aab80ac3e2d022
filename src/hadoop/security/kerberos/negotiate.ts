import { AuthenticationError } from "../errors.ts";
import type { HttpAuthentication, HttpProof } from "../http-authentication.ts";
import type { SignedCookies } from "./signed-cookies.ts";
import type { Spnego, SpnegoContext } from "./spnego.ts";

export interface NegotiateOptions {
  readonly url: URL;
  readonly spnego: () => Promise<Spnego>;
  readonly cookies: SignedCookies;
  /** Whom a service acts for. */
  readonly actFor: string | undefined;
  /** What the Kerberos library said, for people. */
  readonly explain: (cause: unknown) => AuthenticationError;
}

type Headers = Parameters<NonNullable<HttpAuthentication["complete"]>>[0];

/** HTTP's Negotiate (RFC 4559) for one request: a cookie where there is one, a ticket when the server asks for it, and the server's proof. */
export class Negotiate implements HttpAuthentication {
  readonly #options: NegotiateOptions;
  #context: SpnegoContext | undefined;
  #proved = false;

  constructor(options: NegotiateOptions) {
    this.#options = options;
  }

  begin(): HttpProof {
    const { url, cookies, actFor } = this.#options;
    const cookie = cookies.for(url);
    return {
      ...(actFor === undefined ? {} : { parameters: { doas: actFor } }),
      ...(cookie === undefined ? {} : { headers: { cookie } }),
    };
  }

  async respond(challenges: readonly string[]): Promise<HttpProof | undefined> {
    const { url, cookies, spnego, explain } = this.#options;
    const challenge = tokenOf(challenges);
    cookies.forget(url);
    // A second challenge without a token is a refusal.
    if (challenge === undefined || (this.#context !== undefined && challenge.length === 0)) return undefined;
    try {
      this.#context ??= await (await spnego())(url.hostname);
      const { token, done } = await this.#context.step(challenge);
      this.#proved = done;
      const { parameters } = this.begin();
      return { ...(parameters && { parameters }), headers: { authorization: `Negotiate ${token.toString("base64")}` } };
    } catch (cause) {
      throw explain(cause);
    }
  }

  async complete(headers: Headers): Promise<void> {
    const { url, cookies, explain } = this.#options;
    const proof = tokenOf([headers["www-authenticate"] ?? []].flat());
    if (this.#context !== undefined && proof !== undefined && proof.length > 0 && !this.#proved) {
      const { done } = await this.#context.step(proof).catch((cause: unknown) => {
        throw explain(cause);
      });
      if (!done) throw new AuthenticationError(`${url.host} did not prove who it is`, { code: "HTTP_AUTHENTICATION" });
    }
    cookies.keep(url, [headers["set-cookie"] ?? []].flat());
  }
}

/** What stands behind `Negotiate`; empty where that stands alone, undefined where there is none. */
function tokenOf(challenges: readonly string[]): Buffer | undefined {
  for (const challenge of challenges.flatMap((value) => value.split(","))) {
    const [, token] = /^\s*Negotiate(?:\s+([\w+/=]+))?\s*$/i.exec(challenge) ?? [undefined, undefined];
    if (/^\s*Negotiate\b/i.test(challenge)) return Buffer.from(token ?? "", "base64");
  }
  return undefined;
}

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { TLSSocket } from "node:tls";
import { TonyError } from "../src/errors.ts";
import { errorMessage } from "../src/hadoop/errors.ts";
import type { Accepted } from "../src/hadoop/security/kerberos/gss-acceptor.ts";
import { USER } from "./access.ts";

export interface LoginOptions {
  /** Accepts a Kerberos ticket; absent: only certificates log in. Rejects when the ticket proves nobody. */
  readonly accept?: (token: Uint8Array) => Promise<Accepted>;
  /** The cluster's user name for a principal. @throws Error where it has none */
  readonly localNameOf: (principal: string) => string;
  /** Whether clients are asked for certificates. */
  readonly takesCertificates: boolean;
  readonly nowMs: () => number;
}

const COOKIE = "tony-portal";
/** After this time a ticket is required again, which browsers send automatically. */
const LOGIN_MS = 3_600_000;
/** Tickets are verified on other threads, of which there are few. */
const MOST_TICKETS = 4;

/** The user behind a request, by one of three proofs: a certificate, a Kerberos ticket, or the cookie that was set for a ticket. */
export class Logins {
  readonly #options: LoginOptions;
  readonly #key = randomBytes(32);
  #tickets = 0;

  constructor(options: LoginOptions) {
    this.#options = options;
  }

  /**
   * @param response gets the headers of a login
   * @returns the user's name
   * @throws TonyError (`NOT_LOGGED_IN`) where nothing is proved, (`NOT_ALLOWED`) where the proof is valid but gives no
   * access
   */
  async userOf(request: IncomingMessage, response: ServerResponse): Promise<string> {
    const known = certified(request) ?? this.#remembered(request.headers.cookie ?? "");
    if (known !== undefined) return known;
    const [, ticket] = /^Negotiate ([A-Za-z0-9+/]+=*)$/i.exec(request.headers.authorization ?? "") ?? [];
    const { accept, takesCertificates } = this.#options;
    if (accept === undefined || ticket === undefined) {
      if (accept !== undefined) response.setHeader("WWW-Authenticate", "Negotiate");
      throw notLoggedIn(accept !== undefined, takesCertificates);
    }
    const { principal, answer } = await this.#taken(accept, Buffer.from(ticket, "base64"));
    const user = this.#named(principal);
    response.setHeader("WWW-Authenticate", `Negotiate ${answer.toString("base64")}`);
    response.setHeader("Set-Cookie", `${COOKIE}=${this.#cookieOf(user)}; Path=/; HttpOnly; Secure; SameSite=Lax`);
    return user;
  }

  async #taken(accept: NonNullable<LoginOptions["accept"]>, ticket: Buffer): Promise<Accepted> {
    if (this.#tickets >= MOST_TICKETS)
      throw new TonyError("Too many people are logging in: try again in a moment", { code: "BUSY" });
    this.#tickets += 1;
    try {
      return await accept(ticket);
    } catch (cause) {
      throw new TonyError(`The portal does not take this ticket: ${errorMessage(cause)}`, {
        code: "NOT_ALLOWED",
        cause,
      });
    } finally {
      this.#tickets -= 1;
    }
  }

  #named(principal: string): string {
    try {
      const user = this.#options.localNameOf(principal);
      if (USER.test(user)) return user;
    } catch {
      // Reported below: the rules have no name for this principal.
    }
    throw new TonyError(
      `${principal} has no user name on this cluster: its administrator maps principals to users in hadoop.security.auth_to_local`,
      { code: "NOT_ALLOWED" },
    );
  }

  #cookieOf(user: string): string {
    const text = `${user}.${this.#options.nowMs() + LOGIN_MS}`;
    return `${text}.${this.#proofOf(text)}`;
  }

  /** The user that a cookie of ours names. */
  #remembered(cookies: string): string | undefined {
    const [, text = "", user, untilMs, proof = ""] =
      new RegExp(`(?:^|; *)${COOKIE}=(([\\w.-]+)\\.(\\d+))\\.([\\w-]+)(?:;|$)`).exec(cookies) ?? [];
    const [given, own] = [Buffer.from(proof), Buffer.from(this.#proofOf(text))];
    const isOurs = given.length === own.length && timingSafeEqual(given, own);
    return isOurs && Number(untilMs) > this.#options.nowMs() ? user : undefined;
  }

  #proofOf(text: string): string {
    return createHmac("sha256", this.#key).update(text).digest("base64url");
  }
}

/** The user named by a certificate that an authority of `tony.portal.client-ca` has signed. */
function certified({ socket }: IncomingMessage): string | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const name = socket.getPeerCertificate().subject?.CN;
  return typeof name === "string" && USER.test(name) ? name : undefined;
}

function notLoggedIn(takesTickets: boolean, takesCertificates: boolean): TonyError {
  const ways = [
    ...(takesTickets
      ? [
          "a ticket of Kerberos (kinit; a browser sends it where its policy trusts this host, curl with --negotiate -u :)",
        ]
      : []),
    ...(takesCertificates ? ["a certificate of the authority that tony.portal.client-ca names"] : []),
  ];
  return new TonyError(`The portal asks who you are: by ${ways.join(", or ")}`, { code: "NOT_LOGGED_IN" });
}

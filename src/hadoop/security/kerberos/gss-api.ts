/** The part of GSS-API, the interface to Kerberos libraries, that is used (RFC 2743; its C names RFC 2744). */
import { CodedError } from "../../errors.ts";

/** Plain Kerberos (RFC 4121), or the negotiation that web servers expect (SPNEGO, RFC 4178). */
export type GssMechanism = "krb5" | "spnego";

/** An explicit login, independent of what the environment names (KRB5CCNAME, KRB5_CLIENT_KTNAME). */
export interface KeytabLogin {
  /** `alice@EXAMPLE.COM` or `service/host@EXAMPLE.COM` */
  readonly principal: string;
  /** A file. */
  readonly keytab: string;
}

/** The acting Kerberos principal, with a ticket. */
export interface GssCredential {
  /** With its realm: `alice@EXAMPLE.COM`. */
  readonly principal: string;
  /** Until the ticket expires. */
  readonly remainingSeconds: number;
}

/** One exchange with one server, and the protection of messages after it. Failures throw GssError. */
export interface GssContext {
  /** Takes the server's message (empty at first). @returns the message for the server, and whether both sides are authenticated */
  step(token: Uint8Array): Promise<{ readonly token: Buffer; readonly done: boolean }>;
  /** Signs a message, and encrypts it if it is confidential. */
  wrap(message: Uint8Array, confidential: boolean): Buffer;
  /** Rejects a message that was changed, repeated, reordered or left out on the way. */
  unwrap(token: Uint8Array): { readonly message: Buffer; readonly confidential: boolean };
  /** The longest message whose wrapped form is at most `tokenBytes` long. */
  maxMessageBytes(tokenBytes: number, confidential: boolean): number;
}

/** The GSS-API of a machine (RFC 2743), as far as a client needs it. */
export interface GssApi {
  /** Acquires a ticket, and fetches a new one if a keytab allows it and half its lifetime is over. */
  acquire(login: KeytabLogin | undefined): Promise<GssCredential>;
  /** The realm of names without one: krb5.conf's `default_realm`. */
  defaultRealm(): Promise<string>;
  /** The realm of a host by krb5.conf's `domain_realm`, else the default. */
  realmOf(host: string): Promise<string>;
  /**
   * Begins an exchange. Both sides authenticate, and messages can be signed and encrypted after it.
   * @param credential from this library's `acquire`
   * @param server its principal: `rm/host@EXAMPLE.COM`
   */
  initiate(credential: GssCredential, mechanism: GssMechanism, server: string): GssContext;
}

/** A GSS-API library's error. Only its text distinguishes failures, because the numbers differ between mechanisms. */
export class GssError extends CodedError {
  override readonly name = "GssError";

  constructor(message: string) {
    super(message, { code: "GSS" });
  }
}

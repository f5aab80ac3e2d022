import type { AuthenticationError } from "../errors.ts";
import type { User } from "../user.ts";

/** One mechanism of `auths` in the server's NEGOTIATE (RpcSaslProto.SaslAuth). */
export interface MechanismOffer {
  /** `TOKEN`, `KERBEROS`, `SIMPLE` (org.apache.hadoop.security.SaslRpcServer.AuthMethod). */
  readonly method: string;
  /** SASL's name: `DIGEST-MD5`, `GSSAPI`, or empty. */
  readonly mechanism: string;
  /** With `serverId` the name of the service: `rm`, the first part of its Kerberos principal; empty for tokens. */
  readonly protocol: string;
  /** The host in a Kerberos principal, `default` for tokens. */
  readonly serverId: string;
  /** The first challenge, where the server sends one at once. */
  readonly challenge: Uint8Array;
}

/** Protects everything after a successful negotiation (SASL's "security layer", RFC 4422 §3.7). */
export interface SecurityLayer {
  /** The longest message that may be wrapped at once. */
  readonly maxMessageBytes: number;
  /** What travels in place of the message, in the order of the calls. */
  wrap(message: Uint8Array): Buffer;
  /** Throws AuthenticationError when the message was changed, repeated or reordered on the way. */
  unwrap(token: Uint8Array): Buffer;
}

/** The client's side of one exchange. Its methods throw AuthenticationError where the server does not keep to the mechanism. */
export interface SaslMechanism {
  /** Answers the server's challenge; the first one may be empty. */
  respond(challenge: Uint8Array): Uint8Array | Promise<Uint8Array>;
  /** Checks the server's last message and gives the negotiated layer, if there is one. */
  complete(finalToken: Uint8Array): SecurityLayer | undefined | Promise<SecurityLayer | undefined>;
  /** What a server's refusal in the middle of it means to a person; undefined: no more than it says itself. */
  refused?(cause: unknown): AuthenticationError | undefined;
}

/** A way to say who we are, chosen by name among the server's offers. */
export interface AuthenticationStrategy {
  /** The offers that it answers: see MechanismOffer. */
  readonly method: string;
  readonly mechanism: string;
  /** Whom the connection acts for; absent where the proof says it, as a token's does. */
  readonly user?: User | undefined;
  /**
   * Begins an exchange. Undefined where naming the method is all there is to it (SIMPLE): the server sends no answer then.
   * Throws AuthenticationError for a server that is not the one expected.
   */
  start(offer: MechanismOffer): SaslMechanism | undefined | Promise<SaslMechanism | undefined>;
}

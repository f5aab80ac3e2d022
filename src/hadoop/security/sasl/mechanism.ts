import type { AuthenticationError } from "../errors.ts";
import type { User } from "../user.ts";

/** One mechanism of `auths` in the server's NEGOTIATE (RpcSaslProto.SaslAuth). */
export interface MechanismOffer {
  /** `TOKEN`, `KERBEROS`, `SIMPLE` (org.apache.hadoop.security.SaslRpcServer.AuthMethod). */
  readonly method: string;
  /** SASL's name: `DIGEST-MD5`, `GSSAPI`, or empty. */
  readonly mechanism: string;
  /** The first part of the service's Kerberos principal, `rm`, which `serverId` completes; empty for tokens. */
  readonly protocol: string;
  /** The host in a Kerberos principal, `default` for tokens. */
  readonly serverId: string;
  /** The first challenge, if the server sends one immediately. */
  readonly challenge: Uint8Array;
}

/** Protects everything after a successful negotiation (SASL's "security layer", RFC 4422 §3.7). */
export interface SecurityLayer {
  /** The longest message that may be wrapped at once. */
  readonly maxMessageBytes: number;
  /** What is sent in place of the message, in the order of the calls. */
  wrap(message: Uint8Array): Buffer;
  /** Throws AuthenticationError when the message was changed, repeated or reordered on the way. */
  unwrap(token: Uint8Array): Buffer;
}

/** The client's side of one exchange. Its methods throw AuthenticationError when the server violates the mechanism. */
export interface SaslMechanism {
  /** Answers the server's challenge; the first one may be empty. */
  respond(challenge: Uint8Array): Uint8Array | Promise<Uint8Array>;
  /** Checks the server's last message and returns the negotiated layer, if there is one. */
  complete(finalToken: Uint8Array): SecurityLayer | undefined | Promise<SecurityLayer | undefined>;
  /** Explains a server's refusal during the exchange to people; undefined if its own message is all there is to say. */
  refused?(cause: unknown): AuthenticationError | undefined;
}

/** A way to authenticate, chosen by name among the server's offers. */
export interface AuthenticationStrategy {
  /** The offers that it answers: see MechanismOffer. */
  readonly method: string;
  readonly mechanism: string;
  /** The user for whom the connection acts; absent if the credentials themselves name it, as a token does. */
  readonly user?: User | undefined;
  /**
   * Begins an exchange. Undefined if naming the method is all there is to it (SIMPLE): the server then sends no answer.
   * Throws AuthenticationError for a server that is not the expected one.
   */
  start(offer: MechanismOffer): SaslMechanism | undefined | Promise<SaslMechanism | undefined>;
}

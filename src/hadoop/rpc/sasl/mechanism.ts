/** One mechanism of `auths` in the server's NEGOTIATE (RpcSaslProto.SaslAuth). */
export interface MechanismOffer {
  /** `TOKEN`, `KERBEROS`, `SIMPLE` (org.apache.hadoop.security.SaslRpcServer.AuthMethod). */
  readonly method: string;
  /** SASL's name: `DIGEST-MD5`, `GSSAPI`, or empty. */
  readonly mechanism: string;
  readonly protocol: string;
  readonly serverId: string;
  /** The first challenge, where the server sends one at once. */
  readonly challenge: Uint8Array;
}

/** Protects everything after a successful negotiation (SASL's "security layer", RFC 4422 §3.7). */
export interface SecurityLayer {
  /** The longest message that may be wrapped at once. */
  readonly maxMessageBytes: number;
  wrap(message: Uint8Array): Buffer;
  /** Throws RpcAuthenticationError when the message was changed, repeated or reordered on the way. */
  unwrap(token: Uint8Array): Buffer;
}

/** The client's side of one exchange. */
export interface SaslMechanism {
  /** Answers the server's challenge; the first one may be empty. */
  respond(challenge: Uint8Array): Uint8Array | Promise<Uint8Array>;
  /** Checks the server's last word and gives the negotiated layer, if there is one. */
  complete(finalToken: Uint8Array): SecurityLayer | undefined;
}

/** A way to say who we are, chosen by name among the server's offers. */
export interface AuthenticationStrategy {
  readonly method: string;
  readonly mechanism: string;
  /** Undefined where naming the method is all there is to it (SIMPLE): the server sends no answer then. */
  start(offer: MechanismOffer): SaslMechanism | undefined;
}

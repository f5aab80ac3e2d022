import { errorMessage } from "../../errors.ts";
import { AuthenticationError } from "../errors.ts";
import type { GssContext } from "../kerberos/gss-api.ts";
import { type KerberosAttempt, kerberosError, refusedTicket } from "../kerberos/kerberos-trouble.ts";
import type { Protection } from "./digest-md5.ts";
import type { SaslMechanism, SecurityLayer } from "./mechanism.ts";

/** RFC 4752 §3.3: a bit for each protection, in both sides' last messages. */
const layerBits: Readonly<Record<Protection, number>> = { auth: 1, "auth-int": 2, "auth-conf": 4 };
const strongestFirst: readonly Protection[] = ["auth-conf", "auth-int", "auth"];

/** The longest protected message that we accept; its length fits in 3 bytes. */
const ownMaxBytes = 65_536;
const lastMessageBytes = 4;

export interface GssapiOptions {
  /** Acceptable to us, best first; absent: all, the strongest first. */
  readonly protections?: readonly Protection[] | undefined;
  /** For error messages. */
  readonly attempt: KerberosAttempt;
}

/**
 * SASL's GSSAPI (RFC 4752), from the client's side:
 *
 *     both authenticate with tokens of the Kerberos library, until it is satisfied
 *     server: wrapped { protections it offers (1) | longest message it accepts (3) }
 *     client: wrapped { the protection chosen (1) | longest message we accept (3), 0 without a layer }
 */
export class Gssapi implements SaslMechanism {
  readonly #context: GssContext;
  readonly #options: GssapiOptions;
  #proved = false;
  #settled: { readonly layer: SecurityLayer | undefined } | undefined;

  constructor(context: GssContext, options: GssapiOptions) {
    this.#context = context;
    this.#options = options;
  }

  async respond(challenge: Uint8Array): Promise<Uint8Array> {
    if (this.#settled !== undefined) throw new AuthenticationError("The server went on after the last GSSAPI message");
    if (this.#proved) return this.#choose(challenge);
    try {
      const { token, done } = await this.#context.step(challenge);
      this.#proved = done;
      return token;
    } catch (cause) {
      throw kerberosError(cause, this.#options.attempt);
    }
  }

  refused(cause: unknown): AuthenticationError | undefined {
    return refusedTicket(cause, this.#options.attempt);
  }

  complete(): SecurityLayer | undefined {
    if (this.#settled !== undefined) return this.#settled.layer;
    throw new AuthenticationError("The server ended the GSSAPI exchange before it had proved itself");
  }

  #choose(challenge: Uint8Array): Buffer {
    const { protections = strongestFirst } = this.#options;
    const { message } = unwrapped(this.#context, challenge);
    if (message.length !== lastMessageBytes)
      throw new AuthenticationError("The server's last GSSAPI message is malformed");
    const offered = message.readUInt8(0);
    const protection = protections.find((candidate) => (offered & layerBits[candidate]) !== 0);
    if (protection === undefined) {
      const names = strongestFirst.filter((candidate) => (offered & layerBits[candidate]) !== 0).join(", ");
      throw new AuthenticationError(
        `The server offers qop "${names}"; this client accepts ${protections.join(", ")} (hadoop.rpc.protection)`,
      );
    }
    const peerMaxBytes = message.readUIntBE(1, 3);
    this.#settled = {
      layer: protection === "auth" ? undefined : layerOf(this.#context, protection === "auth-conf", peerMaxBytes),
    };
    const answer = Buffer.alloc(lastMessageBytes);
    answer.writeUInt8(layerBits[protection], 0);
    answer.writeUIntBE(protection === "auth" ? 0 : ownMaxBytes, 1, 3);
    return this.#context.wrap(answer, false);
  }
}

function layerOf(context: GssContext, confidential: boolean, peerMaxBytes: number): SecurityLayer {
  const maxMessageBytes = context.maxMessageBytes(peerMaxBytes, confidential);
  if (maxMessageBytes <= 0) {
    throw new AuthenticationError(`The server takes no protected message longer than ${peerMaxBytes} bytes: none fits`);
  }
  return {
    maxMessageBytes,
    wrap: (message) => context.wrap(message, confidential),
    unwrap: (token) => {
      const { message, confidential: encrypted } = unwrapped(context, token);
      if (encrypted || !confidential) return message;
      throw new AuthenticationError("The server sent a message in clear text where encryption was agreed");
    },
  };
}

function unwrapped(context: GssContext, token: Uint8Array): ReturnType<GssContext["unwrap"]> {
  try {
    return context.unwrap(token);
  } catch (cause) {
    throw new AuthenticationError(`A protected message from the server is not accepted: ${errorMessage(cause)}`, {
      cause,
    });
  }
}

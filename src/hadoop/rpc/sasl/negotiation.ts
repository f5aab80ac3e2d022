/**
 * SASL over Hadoop IPC (org.apache.hadoop.security.SaslRpcClient, SaslRpcServer):
 *
 *     client NEGOTIATE            → server NEGOTIATE, its mechanisms in order of preference, or SUCCESS: it takes anyone
 *     client INITIATE(choice, first response)   SIMPLE: nothing comes back, go on
 *                                 ← CHALLENGE …  client RESPONSE …
 *                                 ← SUCCESS(proof); a negotiated layer protects everything after it
 */

import { AuthenticationError } from "../../security/errors.ts";
import type {
  AuthenticationStrategy,
  MechanismOffer,
  SaslMechanism,
  SecurityLayer,
} from "../../security/sasl/mechanism.ts";
import type { User } from "../../security/user.ts";
import { RpcProtocolError } from "../errors.ts";
import { type SaslMessage, SaslState } from "../messages.ts";
import type { RemoteError } from "../remote-error.ts";

/** How messages travel while a connection negotiates. `receive` rejects when the connection ends. */
export interface SaslChannel {
  send(message: SaslMessage): void;
  receive(): Promise<SaslMessage>;
}

/** The result of the negotiation. */
export interface Negotiated {
  /** The user for whom the connection acts; absent if the authentication itself established it. */
  readonly user: User | undefined;
  readonly layer?: SecurityLayer | undefined;
}

const empty = new Uint8Array(0);

/** Authenticates with the first of the server's mechanisms for which we have a strategy. Throws AuthenticationError. */
export async function negotiate(
  channel: SaslChannel,
  strategies: readonly AuthenticationStrategy[],
): Promise<Negotiated> {
  channel.send({ state: SaslState.NEGOTIATE });
  const answer = await channel.receive();
  if (answer.state === SaslState.SUCCESS) return acceptedWithoutProof(strategies);
  if (answer.state !== SaslState.NEGOTIATE) throw unexpected(answer);
  const { offer, strategy } = choose((answer.auths ?? []).map(offerFromWire), strategies);
  const auth = {
    method: offer.method,
    mechanism: offer.mechanism,
    protocol: offer.protocol,
    serverId: offer.serverId,
  };
  const mechanism = await strategy.start(offer);
  if (mechanism === undefined) {
    channel.send({ state: SaslState.INITIATE, auths: [auth] });
    return { user: strategy.user };
  }
  channel.send({ state: SaslState.INITIATE, token: await mechanism.respond(offer.challenge), auths: [auth] });
  return { user: strategy.user, layer: await exchange(channel, mechanism) };
}

async function exchange(channel: SaslChannel, mechanism: SaslMechanism): Promise<SecurityLayer | undefined> {
  for (;;) {
    const message = await channel.receive().catch((cause: unknown) => {
      throw mechanism.refused?.(cause) ?? cause;
    });
    if (message.state === SaslState.SUCCESS) return await mechanism.complete(message.token ?? empty);
    if (message.state !== SaslState.CHALLENGE) throw unexpected(message);
    channel.send({ state: SaslState.RESPONSE, token: await mechanism.respond(message.token ?? empty) });
  }
}

/** A server without security lets anyone in; a client that has only a token must not take that for authentication. */
function acceptedWithoutProof(strategies: readonly AuthenticationStrategy[]): Negotiated {
  const named = strategies.find((strategy) => strategy.method === "SIMPLE");
  if (named !== undefined) return { user: named.user };
  if (strategies.some(({ method }) => method === "KERBEROS")) throw serverNotSecure();
  throw new AuthenticationError("The server authenticates nobody, where a token was to be checked");
}

function choose(
  offers: readonly MechanismOffer[],
  strategies: readonly AuthenticationStrategy[],
): { readonly offer: MechanismOffer; readonly strategy: AuthenticationStrategy } {
  for (const offer of offers) {
    const strategy = strategies.find(
      ({ method, mechanism }) => method === offer.method && mechanism === offer.mechanism,
    );
    if (strategy !== undefined) return { offer, strategy };
  }
  const named = offers.some(({ method }) => method === "SIMPLE");
  if (named && strategies.some(({ method }) => method === "KERBEROS")) throw serverNotSecure();
  const kerberos = offers.find(({ method }) => method === "KERBEROS");
  if (kerberos !== undefined) throw kerberosNeeded(kerberos);
  const offered = offers.map(({ method, mechanism }) => `${method}/${mechanism}`).join(", ");
  const known = strategies.map(({ method, mechanism }) => `${method}/${mechanism}`).join(", ");
  throw new AuthenticationError(
    `The server accepts ${offered || "no mechanism"}; this client has ${known || "nothing to show"}`,
  );
}

function offerFromWire(auth: NonNullable<SaslMessage["auths"]>[number]): MechanismOffer {
  return {
    method: auth.method,
    mechanism: auth.mechanism,
    protocol: auth.protocol ?? "",
    serverId: auth.serverId ?? "",
    challenge: auth.challenge ?? empty,
  };
}

function unexpected(message: SaslMessage): RpcProtocolError {
  return new RpcProtocolError(`The server sent a SASL message of state ${message.state} out of turn`);
}

/** The message for a server that accepts only Kerberos when the configuration here does not have it. */
export function kerberosNeeded(offer?: MechanismOffer): AuthenticationError {
  const principal = offer?.protocol ? ` (service principal ${offer.protocol}/${offer.serverId})` : "";
  return new AuthenticationError(
    `This cluster asks for Kerberos${principal}: hadoop.security.authentication must be kerberos in its core-site.xml here too`,
    { code: "KERBEROS_NEEDED" },
  );
}

/** The opposite case: we would have to believe whoever answers at that address. */
function serverNotSecure(): AuthenticationError {
  return new AuthenticationError(
    "The server asks for no proof of who we are, where hadoop.security.authentication is kerberos here\n" +
      "  is it the right one? ipc.client.fallback-to-simple-auth-allowed=true in core-site.xml lets it be called anyway",
    { code: "SERVER_NOT_SECURE" },
  );
}

/** Whether a server refused a bare user name because it wants Kerberos (org.apache.hadoop.ipc.Server#initializeAuthContext). */
export function refusedForKerberos({ code, javaMessage }: RemoteError): boolean {
  const refusal = javaMessage.indexOf("SIMPLE authentication is not enabled");
  return code === "ACCESS_DENIED" && refusal >= 0 && javaMessage.includes("KERBEROS", refusal);
}

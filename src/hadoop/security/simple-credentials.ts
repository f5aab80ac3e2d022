import type { CredentialsProvider, HttpAuthentication, RpcService } from "./credentials-provider.ts";
import { type Protection, tokenDigest } from "./sasl/digest-md5.ts";
import type { AuthenticationStrategy } from "./sasl/mechanism.ts";
import type { User } from "./user.ts";

/** How tokens are presented. */
export interface TokenOptions {
  /** Acceptable protections of traffic, best first; default all, the strongest first. */
  readonly protections?: readonly Protection[] | undefined;
  /** See CredentialsProvider. */
  readonly trustedCertificates?: string | undefined;
}

/**
 * Credentials for clusters that believe names (`hadoop.security.authentication` is `simple`): the user's name over RPC and, as `user.name`,
 * over HTTP. A service for which YARN issued a token receives that token and nothing else.
 */
export function simpleCredentials(user: User, options: TokenOptions = {}): CredentialsProvider {
  const { name, realName } = user;
  const parameters = realName === undefined ? { "user.name": name } : { "user.name": realName, doas: name };
  const named: HttpAuthentication = { begin: () => ({ parameters }) };
  return {
    trustedCertificates: options.trustedCertificates,
    user: async () => user.name,
    forRpc: async (service) => (service.token === undefined ? [simple(user)] : ofToken(service, options)),
    forHttp: async () => named,
  };
}

/** Credentials of a process that has only the tokens that YARN gave it: enough for SchedulerClient and NodeManagerPool. */
export function tokenCredentials(options: TokenOptions = {}): CredentialsProvider {
  return {
    trustedCertificates: options.trustedCertificates,
    user: async () => "",
    forRpc: async (service) => ofToken(service, options),
    forHttp: async () => ({ begin: () => ({}) }),
  };
}

function ofToken({ token }: RpcService, { protections }: TokenOptions): readonly AuthenticationStrategy[] {
  return token === undefined ? [] : [tokenDigest(token, { protections })];
}

/** SIMPLE: the server believes the user name of the connection context (org.apache.hadoop.security.SaslRpcServer.AuthMethod). */
export function simple(user: User): AuthenticationStrategy {
  return { method: "SIMPLE", mechanism: "", user, start: () => undefined };
}

import { lookup, lookupService } from "node:dns/promises";
import type { Configuration } from "../../conf/configuration.ts";
import type { CredentialsProvider, HttpAuthentication, HttpService, RpcService } from "../credentials-provider.ts";
import { Gssapi } from "../sasl/gssapi.ts";
import type { AuthenticationStrategy, MechanismOffer } from "../sasl/mechanism.ts";
import { simple, type TokenOptions, tokenCredentials } from "../simple-credentials.ts";
import type { User } from "../user.ts";
import type { GssCredential } from "./gss-api.ts";
import { kerberosError } from "./kerberos-trouble.ts";
import { localName } from "./local-name.ts";
import { KerberosLogin } from "./login.ts";
import { Negotiate, SignedCookies } from "./negotiate.ts";
import { serverPrincipal } from "./server-principal.ts";
import { chooseSpnego, type Spnego } from "./spnego.ts";

/** Who authenticates, and to which cluster. */
export interface KerberosOptions extends TokenOptions {
  /** Names the servers' principals and the rules for users' short names. */
  readonly configuration: Configuration;
  /**
   * The acting user where names are believed. If it is a proxy user, we act for it with Kerberos too; otherwise the acting user is whoever
   * logged in.
   */
  readonly user: User;
  /** Whether `user` is named to a server that demands no authentication; otherwise such a server is not called. */
  readonly fallback: boolean;
  /** Default: the tickets that the environment names. */
  readonly login?: KerberosLogin | undefined;
  /** Chooses the negotiator for web servers; default: the package kerberos, else libgssapi. */
  readonly chooseSpnego?: ((login: KerberosLogin) => Promise<Spnego>) | undefined;
  /** The name of a host's address; looked up in DNS by default. */
  readonly canonicalName?: ((host: string) => Promise<string>) | undefined;
}

/**
 * Credentials by Kerberos: GSSAPI over RPC, Negotiate over HTTP. A service for which YARN issued a token receives that token and nothing
 * else. The library is loaded, and a ticket looked for, at the first connection to a server.
 */
export function kerberosCredentials(options: KerberosOptions): CredentialsProvider {
  return new KerberosCredentials(options);
}

class KerberosCredentials implements CredentialsProvider {
  readonly trustedCertificates: string | undefined;
  readonly #options: KerberosOptions;
  readonly #login: KerberosLogin;
  readonly #byToken: CredentialsProvider;
  readonly #cookies = new SignedCookies();
  #spnego: Promise<Spnego> | undefined;

  constructor(options: KerberosOptions) {
    this.#options = options;
    this.#login = options.login ?? new KerberosLogin();
    this.#byToken = tokenCredentials({ protections: options.protections });
    this.trustedCertificates = options.trustedCertificates;
  }

  async user(): Promise<string> {
    const { configuration, user } = this.#options;
    if (isProxied(user)) return user.name;
    const { principal } = await this.#login.credential();
    return localName(configuration, principal, await this.#login.defaultRealm());
  }

  async forRpc(service: RpcService): Promise<readonly AuthenticationStrategy[]> {
    if (service.token !== undefined) return this.#byToken.forRpc(service);
    const { fallback, user } = this.#options;
    if (!fallback) return [this.#kerberos(service, await this.#login.credential())];
    return [await this.#kerberosIfAsked(service), simple(user)];
  }

  async forHttp({ url, redirected, mayBeOpen = false }: HttpService): Promise<HttpAuthentication> {
    const { user, fallback } = this.#options;
    return new Negotiate({
      url,
      spnego: () => this.#chosenSpnego(),
      cookies: this.#cookies,
      actFor: isProxied(user) ? user.name : undefined,
      mayBeOpen: redirected || mayBeOpen || fallback,
      explain: (cause) => kerberosError(cause, { ...this.#login.attempt, server: `HTTP/${url.hostname}` }),
    });
  }

  #chosenSpnego(): Promise<Spnego> {
    this.#spnego ??= (this.#options.chooseSpnego ?? chooseSpnego)(this.#login);
    return this.#spnego;
  }

  #kerberos(service: RpcService, credential: GssCredential): AuthenticationStrategy {
    const { user } = this.#options;
    const name = isProxied(user) ? user.name : credential.principal;
    return { ...kerberosMethod, user: { name }, start: (offer) => this.#start(service, credential, offer) };
  }

  /** Without a ticket, a server that demands none can still be called. */
  async #kerberosIfAsked(service: RpcService): Promise<AuthenticationStrategy> {
    try {
      return this.#kerberos(service, await this.#login.credential());
    } catch (error) {
      return { ...kerberosMethod, start: () => Promise.reject(error) };
    }
  }

  async #start(service: RpcService, credential: GssCredential, offer: MechanismOffer): Promise<Gssapi> {
    const { configuration, protections, canonicalName = nameOfAddress } = this.#options;
    const names = { canonicalName, realmOf: (host: string) => this.#login.realmOf(host) };
    const server = await serverPrincipal(configuration, service, offer, names);
    const api = await this.#login.api();
    return new Gssapi(api.initiate(credential, "krb5", server), {
      protections,
      attempt: { ...this.#login.attempt, server },
    });
  }
}

/** org.apache.hadoop.security.SaslRpcServer.AuthMethod.KERBEROS */
const kerberosMethod = { method: "KERBEROS", mechanism: "GSSAPI" } as const;

function isProxied({ realName }: User): boolean {
  return realName !== undefined;
}

async function nameOfAddress(host: string): Promise<string> {
  const { address } = await lookup(host);
  return (await lookupService(address, 0)).hostname;
}

import { formatHostPort } from "../conf/values.ts";
import type { Credentials } from "./credentials.ts";
import type { CredentialsProvider, HttpAuthentication, HttpService, RpcService } from "./credentials-provider.ts";
import { tokenDigest } from "./sasl/digest-md5.ts";
import type { TokenOptions } from "./simple-credentials.ts";
import { type Token, TokenKind } from "./token.ts";
import { isServiceOf, type LookUp, systemLookUp } from "./token-service.ts";
import { tokenToUrlText } from "./token-writable.ts";

/** Which tokens to use, and what to use where there is none. */
export interface DelegationOptions extends TokenOptions {
  /** The current credentials; called each time, because newer tokens replace older ones. */
  readonly held: () => Credentials;
  /** Our identity, and the credentials for services without a token. */
  readonly otherwise: CredentialsProvider;
  readonly lookUp?: LookUp;
}

/** The token kinds that each protocol accepts, by its Java interface. */
const kindsOfProtocols: Readonly<Record<string, readonly string[]>> = {
  "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB": [TokenKind.resourceManagerDelegation],
  "org.apache.hadoop.hdfs.protocol.ClientProtocol": [TokenKind.hdfsDelegation],
};
/** One server issues all of these, under the name of the requested scheme (org.apache.hadoop.hdfs.web.TokenAspect). */
const webKinds: readonly string[] = [
  TokenKind.hdfsDelegation,
  TokenKind.webHdfsDelegation,
  TokenKind.secureWebHdfsDelegation,
];

/**
 * The credentials of a process that was given delegation tokens. Each service receives its own token, presented as Hadoop's clients do,
 * even if other credentials are available.
 */
export function delegatedCredentials(options: DelegationOptions): CredentialsProvider {
  const { held, otherwise, protections, lookUp = systemLookUp } = options;
  return {
    trustedCertificates: otherwise.trustedCertificates,
    user: () => otherwise.user(),
    forRpc: async (service) => {
      const token = service.token ?? (await heldFor(namesOfRpc(service), kindsOfProtocols[service.protocol] ?? []));
      return token === undefined ? otherwise.forRpc(service) : [tokenDigest(token, { protections })];
    },
    forHttp: async (service) => {
      const token = await heldFor(namesOfHttp(service), webKinds);
      return token === undefined ? otherwise.forHttp(service) : inQuery(token);
    },
    renewed: async (service, refusal) => (await otherwise.renewed?.(service, refusal)) ?? false,
  };

  async function heldFor(names: readonly string[], kinds: readonly string[]): Promise<Token | undefined> {
    for (const { token } of held().tokens) {
      if (!kinds.includes(token.kind)) continue;
      for (const name of names) if (await isServiceOf(token.service, name, lookUp)) return token;
    }
    return undefined;
  }
}

function namesOfRpc({ endpoint }: RpcService): readonly string[] {
  return [formatHostPort(endpoint)];
}

function namesOfHttp({ url, tokenService }: HttpService): readonly string[] {
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  const asked = formatHostPort({ host: url.hostname, port });
  return tokenService === undefined ? [asked] : [tokenService, asked];
}

function inQuery(token: Token): HttpAuthentication {
  const delegation = tokenToUrlText(token);
  return { begin: () => ({ parameters: { delegation } }) };
}

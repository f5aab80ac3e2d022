import type { Configuration } from "../conf/configuration.ts";
import { parseHostPort } from "../conf/values.ts";
import { HadoopError } from "../errors.ts";
import { httpDelegationToken, type TokenRequestOptions, tokenInAnswer } from "../http/delegation-token.ts";
import type { CredentialsProvider } from "../security/credentials-provider.ts";
import { type Token, TokenKind } from "../security/token.ts";
import { type LookUp, systemLookUp, tokenServiceOf } from "../security/token-service.ts";
import { Failover, type FailoverOptions } from "./failover.ts";
import { splitUri } from "./file-systems.ts";
import { nameNodeEndpoints, nameNodeTokenService } from "./namenodes.ts";
import { WebHdfsConnection } from "./webhdfs-connection.ts";

export interface DelegationTokenOptions {
  readonly configuration: Configuration;
  /** The caller's identity: a NameNode gives tokens only to callers that have presented a Kerberos ticket. */
  readonly credentials: CredentialsProvider;
  /** The principal that may renew the token; empty: nobody may. */
  readonly renewer: string;
  readonly failover?: FailoverOptions;
  readonly lookUp?: LookUp;
}

const timeouts = { connectTimeoutMs: 10_000, answerTimeoutMs: 20_000, idleTimeoutMs: 20_000 };

/** The service name of a token for the file system of `hdfs://…`, `webhdfs://…` or `swebhdfs://…`; undefined if it accepts no tokens. */
export function hdfsTokenService(uri: string, configuration: Configuration): string | undefined {
  const { scheme, authority } = splitUri(uri)?.root ?? {};
  if (authority === undefined) return undefined;
  if (scheme === "hdfs") return nameNodeTokenService(configuration, authority);
  return scheme === "webhdfs" || scheme === "swebhdfs" ? authority : undefined;
}

/**
 * Fetches a new delegation token for a file system, always from its NameNodes: a gateway's token would be valid at the gateway only. For
 * `hdfs:` the token is the one that YARN's nodes look for, whose clients cannot tell that it was issued over WebHDFS
 * (org.apache.hadoop.hdfs.DFSClient).
 * @param uri `hdfs://nameservice`, `hdfs://namenode:8020`, `webhdfs://namenode:9870`
 * @throws FileSystemError when the NameNode does not give one
 */
export async function hdfsDelegationToken(uri: string, options: DelegationTokenOptions): Promise<Token> {
  const { configuration, credentials, renewer, failover } = options;
  const { scheme = "", authority = "" } = splitUri(uri)?.root ?? {};
  const isRpc = scheme === "hdfs";
  const endpoints = isRpc
    ? nameNodeEndpoints(configuration, authority)
    : [`${scheme === "swebhdfs" ? "https" : "http"}://${authority}`];
  const connection = new WebHdfsConnection({ ...timeouts, credentials, tokenService: undefined });
  const request = { method: "GET", operation: "GETDELEGATIONTOKEN", path: "/", parameters: { renewer } } as const;
  try {
    const choice = new Failover(endpoints, failover);
    const answer = await choice.run("idempotent", (endpoint) => connection.json(endpoint, request));
    const token = tokenInAnswer(answer, uri);
    const service = await serviceOf(hdfsTokenService(uri, configuration) ?? authority, options);
    return { ...token, service, kind: isRpc ? TokenKind.hdfsDelegation : token.kind };
  } finally {
    connection.close();
  }
}

async function serviceOf(
  name: string,
  { configuration, lookUp = systemLookUp }: DelegationTokenOptions,
): Promise<string> {
  const server = parseHostPort(name);
  return server === undefined ? name : await tokenServiceOf(server, configuration, lookUp);
}

const providerKey = "hadoop.security.key.provider.path";

/**
 * The key server of a cluster with encryption zones, `kms://https@kms.example:9600/kms`, which is also the service name of its tokens
 * (org.apache.hadoop.crypto.key.kms.KMSClientProvider). Undefined where there is none.
 */
export function keyProvider(configuration: Configuration): string | undefined {
  const provider = configuration.get(providerKey);
  return provider?.startsWith("kms://") === true ? provider : undefined;
}

/**
 * Fetches a new delegation token of a key server. With several, `kms://https@kms1;kms2:9600/kms`, the first that answers issues one token
 * for all.
 * @param provider see keyProvider
 * @throws the last server's error: HttpError, AuthenticationError, or HadoopError with its answer
 */
export async function kmsDelegationToken(provider: string, options: TokenRequestOptions): Promise<Token> {
  let failure: unknown;
  for (const base of addressesOf(provider)) {
    try {
      return { ...(await httpDelegationToken(`${base}/v1/`, options)), service: provider };
    } catch (error) {
      failure = error;
    }
  }
  throw failure ?? new HadoopError(`${providerKey} names no key server: ${provider}`, { code: "CONFIGURATION" });
}

/** `kms://https@kms1;kms2:9600/kms` → `https://kms1:9600/kms`, `https://kms2:9600/kms` */
function addressesOf(provider: string): readonly string[] {
  const [, scheme, hosts = "", rest = ""] = /^kms:\/\/(https?)@([^/:]+)((?::\d+)?\/[^?#]*)$/.exec(provider) ?? [];
  return scheme === undefined ? [] : hosts.split(";").map((host) => `${scheme}://${host}${rest.replace(/\/+$/, "")}`);
}

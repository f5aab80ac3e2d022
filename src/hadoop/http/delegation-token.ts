import { HadoopError } from "../errors.ts";
import { isObject } from "../json.ts";
import type { CredentialsProvider } from "../security/credentials-provider.ts";
import type { Token } from "../security/token.ts";
import { tokenFromUrlText } from "../security/token-writable.ts";
import { HttpClient } from "./client.ts";
import { quoted, readText } from "./exchange.ts";

const largestAnswerBytes = 64 * 1024;
const timeoutMs = 10_000;

export interface TokenRequestOptions {
  /** The caller's identity: servers give tokens only to callers that have presented a Kerberos ticket. */
  readonly credentials: CredentialsProvider;
  /** The principal that may renew the token. */
  readonly renewer: string;
}

/**
 * Fetches a new delegation token from a web server that issues them
 * (org.apache.hadoop.security.token.delegation.web.DelegationTokenAuthenticator).
 * @param address of the resource to ask: `https://kms:9600/kms/v1/`
 * @throws HttpError, AuthenticationError, or HadoopError (`NO_TOKEN`, `TOKEN_MALFORMED`) with its answer
 */
export async function httpDelegationToken(
  address: string,
  { credentials, renewer }: TokenRequestOptions,
): Promise<Token> {
  const http = new HttpClient({ credentials, connectTimeoutMs: timeoutMs });
  const url = new URL(`${address}?${new URLSearchParams({ op: "GETDELEGATIONTOKEN", renewer }).toString()}`);
  try {
    const answer = await http.send(url, { method: "GET", idleTimeoutMs: timeoutMs });
    const text = await readText(answer, url.host, largestAnswerBytes);
    if (answer.statusCode === 200) return tokenInAnswer(parseJson(text), url.host);
    throw new HadoopError(`${url.host} answered HTTP ${answer.statusCode}: ${quoted(text)}`, { code: "NO_TOKEN" });
  } finally {
    http.close();
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `{"Token": {"urlString": "…"}}`: the answer of WebHDFS, a KMS or a timeline server. @throws HadoopError (`TOKEN_MALFORMED`) */
export function tokenInAnswer(answer: unknown, server: string): Token {
  const token = isObject(answer) ? answer.Token : undefined;
  const text = isObject(token) ? token.urlString : undefined;
  if (typeof text === "string") return tokenFromUrlText(text);
  throw new HadoopError(`${server} gives no delegation token; it wants none, or its security is off`, {
    code: "TOKEN_MALFORMED",
  });
}

import type { Configuration } from "../conf/configuration.ts";
import { HadoopError } from "../errors.ts";
import { HttpClient } from "../http/client.ts";
import { readText } from "../http/exchange.ts";
import type { CredentialsProvider } from "../security/credentials-provider.ts";
import type { Token } from "../security/token.ts";
import { tokenInAnswer } from "./delegation-token.ts";

const providerKey = "hadoop.security.key.provider.path";
const largestAnswerBytes = 64 * 1024;
const timeoutMs = 10_000;

/**
 * The key server of a cluster with encryption zones, `kms://https@kms.example:9600/kms`, which is also what its tokens are filed under
 * (org.apache.hadoop.crypto.key.kms.KMSClientProvider). Undefined where there is none.
 */
export function keyProvider(configuration: Configuration): string | undefined {
  const provider = configuration.get(providerKey);
  return provider?.startsWith("kms://") === true ? provider : undefined;
}

/**
 * A new delegation token of a key server. Of several, `kms://https@kms1;kms2:9600/kms`, the first that answers gives one for all.
 * @param provider see keyProvider
 * @throws the last one's error: HttpError, AuthenticationError, or HadoopError with what it answered
 */
export async function kmsDelegationToken(
  provider: string,
  { credentials, renewer }: { readonly credentials: CredentialsProvider; readonly renewer: string },
): Promise<Token> {
  const http = new HttpClient({ credentials, connectTimeoutMs: timeoutMs });
  let failure: unknown;
  try {
    for (const base of addressesOf(provider)) {
      try {
        return { ...(await tokenFrom(http, base, renewer)), service: provider };
      } catch (error) {
        failure = error;
      }
    }
    throw failure ?? new HadoopError(`${providerKey} names no key server: ${provider}`, { code: "CONFIGURATION" });
  } finally {
    http.close();
  }
}

async function tokenFrom(http: HttpClient, base: string, renewer: string): Promise<Token> {
  const url = new URL(`${base}/v1/?${new URLSearchParams({ op: "GETDELEGATIONTOKEN", renewer }).toString()}`);
  const answer = await http.send(url, { method: "GET", idleTimeoutMs: timeoutMs });
  const text = await readText(answer, url.host, largestAnswerBytes);
  if (answer.statusCode === 200) return tokenInAnswer(JSON.parse(text), url.host);
  throw new HadoopError(`${url.host} answered HTTP ${answer.statusCode}: ${text.slice(0, 200)}`, { code: "NO_TOKEN" });
}

/** `kms://https@kms1;kms2:9600/kms` → `https://kms1:9600/kms`, `https://kms2:9600/kms` */
function addressesOf(provider: string): readonly string[] {
  const [, scheme, hosts = "", rest = ""] = /^kms:\/\/(https?)@([^/:]+)((?::\d+)?\/[^?#]*)$/.exec(provider) ?? [];
  return scheme === undefined ? [] : hosts.split(";").map((host) => `${scheme}://${host}${rest.replace(/\/+$/, "")}`);
}

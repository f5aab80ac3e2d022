import type { Configuration } from "../conf/configuration.ts";
import { HadoopError } from "../errors.ts";
import { httpDelegationToken, type TokenRequestOptions } from "../http/delegation-token.ts";
import type { Token } from "../security/token.ts";

const providerKey = "hadoop.security.key.provider.path";

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

import type { Configuration } from "../conf/configuration.ts";
import { configuredAuthentication, configuredOptions } from "./configured-credentials.ts";
import type { Credentials } from "./credentials.ts";
import type { CredentialsProvider, HttpService } from "./credentials-provider.ts";
import { delegatedCredentials } from "./delegated-credentials.ts";
import { AuthenticationError } from "./errors.ts";
import { fallbackKey } from "./security-keys.ts";
import { simpleCredentials } from "./simple-credentials.ts";
import type { User } from "./user.ts";

/**
 * The credentials of a process that YARN started. It has no Kerberos, only the tokens that were shipped with it; on a cluster that believes
 * names, also its user's name.
 * @param held see DelegationOptions
 */
export function containerCredentials(
  configuration: Configuration,
  user: User,
  held: () => Credentials,
): CredentialsProvider {
  const options = configuredOptions(configuration);
  const named = simpleCredentials(user, options);
  if (configuredAuthentication(configuration) === "simple") return named;
  const mayBeNamed = configuration.getBoolean(fallbackKey, false);
  return delegatedCredentials({
    ...options,
    held,
    otherwise: mayBeNamed ? named : { ...named, ...nothingElse(user, held) },
  });
}

function nothingElse(user: User, held: () => Credentials): CredentialsProvider {
  return {
    user: async () => user.name,
    forRpc: async ({ protocol }) => {
      throw missingToken(protocol, held());
    },
    forHttp: async (service) => {
      throw missingToken(nameOf(service), held());
    },
  };
}

function nameOf({ url, tokenService }: HttpService): string {
  return tokenService === undefined ? url.host : `${url.host} (${tokenService})`;
}

/** @param server the server for which there is no token */
export function missingToken(server: string, { tokens }: Credentials): AuthenticationError {
  const there = tokens.map(({ token }) => `${token.kind} for ${token.service || "any"}`).join(", ");
  return new AuthenticationError(`There is no delegation token for ${server}; there are ${there || "none at all"}`, {
    code: "TOKEN_MISSING",
  });
}

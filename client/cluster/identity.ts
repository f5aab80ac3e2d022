import { ExitCode, UserError } from "../../src/errors.ts";
import type { Configuration } from "../../src/hadoop/conf/configuration.ts";
import { ownerName } from "../../src/hadoop/process-owner.ts";
import {
  configuredAuthentication,
  configuredCredentials,
  configuredProtections,
} from "../../src/hadoop/security/configured-credentials.ts";
import type { CredentialsProvider } from "../../src/hadoop/security/credentials-provider.ts";
import { delegatedCredentials } from "../../src/hadoop/security/delegated-credentials.ts";
import { AuthenticationError } from "../../src/hadoop/security/errors.ts";
import type { KeytabLogin } from "../../src/hadoop/security/kerberos/gss-api.ts";
import { kerberosCredentials } from "../../src/hadoop/security/kerberos/kerberos-credentials.ts";
import { KerberosLogin } from "../../src/hadoop/security/kerberos/login.ts";
import { currentUser, type User } from "../../src/hadoop/security/user.ts";
import type { ClientContext } from "../context.ts";
import { type GivenTokens, givenTokens } from "./given-tokens.ts";

/** Who acts on a cluster, and how its services are shown that. */
export interface Identity {
  /** The name that the cluster knows the user by. */
  readonly user: string;
  /** The cluster wants proofs of who one is. */
  readonly isSecured: boolean;
  readonly credentials: CredentialsProvider;
  /** Who we are by our own proof, whatever tokens we were given: those do not obtain further ones. */
  readonly own: CredentialsProvider;
  /** The delegation tokens that this process was given; undefined where there are none, or the cluster wants no proof. */
  readonly given: GivenTokens | undefined;
  /** How we log in where that is by Kerberos and not by given tokens. */
  readonly login: KerberosLogin | undefined;
}

/**
 * By given tokens, by a keytab, or by the tickets of kinit; by the mere name on an open cluster.
 * @param keytab undefined: none is named
 * @throws UserError where nobody is logged in (exit code 3)
 */
export async function identityOn(
  configuration: Configuration,
  environment: ClientContext["environment"],
  keytab: KeytabLogin | undefined,
): Promise<Identity> {
  const isSecured = configuredAuthentication(configuration) === "kerberos";
  const given = isSecured ? givenTokens(environment) : undefined;
  const login = new KerberosLogin(keytab);
  try {
    const own = configuredCredentials(configuration, actor(environment, isSecured), (options) =>
      kerberosCredentials({ ...options, login }),
    );
    const protections = configuredProtections(configuration);
    const credentials =
      given === undefined ? own : delegatedCredentials({ held: () => given.credentials, otherwise: own, protections });
    const user = ownerOf(given) ?? (await own.user());
    return { user, isSecured, credentials, own, given, login: isSecured && given === undefined ? login : undefined };
  } catch (error) {
    throw notLoggedIn(error);
  }
}

/** A ticket says who acts where there are proofs: a process without a name needs none then. */
function actor(environment: ClientContext["environment"], isSecured: boolean): User {
  return currentUser(environment, isSecured ? ownerName : undefined);
}

/** Whose the tokens are is who acts; the realm and the host of a principal are not part of a name. */
function ownerOf(given: GivenTokens | undefined): string | undefined {
  return given?.owner?.split(/[/@]/)[0];
}

/** Any error; who we are not having been settled is a UserError, because its message says what mends it. */
export function notLoggedIn(error: unknown): unknown {
  if (!(error instanceof AuthenticationError)) return error;
  return new UserError(error.message, { code: error.code, exitCode: ExitCode.cluster, cause: error });
}

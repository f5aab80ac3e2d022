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

/** The user who acts on a cluster, and how this process authenticates to its services. */
export interface Identity {
  /** The name by which the cluster knows the user. */
  readonly user: string;
  /** Whether the cluster requires authentication. */
  readonly isSecured: boolean;
  readonly credentials: CredentialsProvider;
  /** The user that our own login proves, whatever tokens this process was given: given tokens cannot obtain further ones. */
  readonly own: CredentialsProvider;
  /** The delegation tokens that this process was given; undefined where there are none, or the cluster requires no authentication. */
  readonly given: GivenTokens | undefined;
  /** How this process logs in when it uses Kerberos and no given tokens. */
  readonly login: KerberosLogin | undefined;
}

/**
 * Authenticates with given tokens, a keytab, or the tickets of kinit; an open cluster takes the user's mere name.
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

/** Where authentication is required, a ticket says who acts: a process without a user name needs none then. */
function actor(environment: ClientContext["environment"], isSecured: boolean): User {
  return currentUser(environment, isSecured ? ownerName : undefined);
}

/** The owner of the tokens acts; the realm and the host of a principal are not part of a user name. */
function ownerOf(given: GivenTokens | undefined): string | undefined {
  return given?.owner?.split(/[/@]/)[0];
}

/** Any error; one that is already settled is a UserError, whose message says what to do. */
export function notLoggedIn(error: unknown): unknown {
  if (!(error instanceof AuthenticationError)) return error;
  return new UserError(error.message, { code: error.code, exitCode: ExitCode.cluster, cause: error });
}

import { ExitCode, UserError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { FileSystemError } from "../../src/hadoop/hdfs/errors.ts";
import { RemoteError } from "../../src/hadoop/rpc/remote-error.ts";
import { AuthenticationError, type AuthenticationErrorCode } from "../../src/hadoop/security/errors.ts";
import { type Token, TokenKind } from "../../src/hadoop/security/token.ts";
import { type TokenEnding, tokenEnding } from "../../src/hadoop/security/token-ending.ts";
import { listWords } from "../../src/job/reasons/words.ts";
import type { GivenTokens } from "./given-tokens.ts";

const endingWords: Readonly<Record<TokenEnding, string>> = {
  forgotten: "is no longer valid: it was cancelled, or its maximum lifetime is over",
  expired: "has expired: nobody renewed it in time",
};

const withoutTicket: ReadonlySet<AuthenticationErrorCode> = new Set<AuthenticationErrorCode>([
  "KERBEROS_NO_TICKET",
  "KERBEROS_TICKET_EXPIRED",
]);

/**
 * The message when a server refuses a token of the file that this process was given, or when the file has none for that server and there is
 * no ticket either; undefined for other errors.
 */
export function tokenRefusal(error: unknown, given: GivenTokens): UserError | undefined {
  return lacksTicket(error) ? noTokenFor(error, given) : endedToken(error, given);
}

/** It is the cause of WebHDFS's errors. */
function lacksTicket(error: unknown): boolean {
  if (error instanceof AuthenticationError) return withoutTicket.has(error.code);
  return error instanceof Error && error.cause !== undefined && lacksTicket(error.cause);
}

function noTokenFor(error: unknown, { file, credentials }: GivenTokens): UserError {
  const held = credentials.tokens.map(({ token }) => tokenWords(token));
  const others = held.length === 0 ? "no token" : `tokens of other services alone (${listWords(held)})`;
  return new UserError(
    `${file} (HADOOP_TOKEN_FILE_LOCATION) has ${others}, and ${errorMessage(error)}; ` +
      "or let whoever wrote the file obtain tokens of this cluster",
    { code: "TOKEN_MISSING", exitCode: ExitCode.cluster, cause: error },
  );
}

function endedToken(error: unknown, { file, credentials }: GivenTokens): UserError | undefined {
  const ended = tokenEnding(errorMessage(error));
  const kind = kindFor(error);
  if (ended === undefined || kind === undefined) return undefined;
  const refused = credentials.tokens.flatMap(({ token }) => (token.kind === kind ? [tokenWords(token)] : []));
  const mend =
    "Ask whoever wrote the file for new tokens; to use your own Kerberos ticket: unset HADOOP_TOKEN_FILE_LOCATION";
  return new UserError(`The token ${listWords(refused)} in ${file} ${endingWords[ended]}\n  ${mend}`, {
    code: "TOKEN_REFUSED",
    exitCode: ExitCode.cluster,
    cause: error,
  });
}

/** `HDFS_DELEGATION_TOKEN for ha-hdfs:ns` */
function tokenWords({ kind, service }: Token): string {
  return `${kind} for ${service}`;
}

function kindFor(error: unknown): string | undefined {
  if (error instanceof FileSystemError) return TokenKind.hdfsDelegation;
  return error instanceof RemoteError ? TokenKind.resourceManagerDelegation : undefined;
}

/** From the diagnostics of an application that the ResourceManager refused (DelegationTokenRenewer#renewToken). */
const notRenewed = /Failed to renew token: Kind: ([^,\s]{1,200}), Service: ([^\s]{1,500}), Ident: \(([^)]{0,2000})\)/;

/** Why the ResourceManager refuses an application whose tokens it cannot renew; undefined where it has another reason. */
export function renewalRefusal(diagnostics: string): string | undefined {
  const [, kind, service, identifier = ""] = notRenewed.exec(diagnostics) ?? [];
  if (kind === undefined || service === undefined) return undefined;
  const renewer = /renewer=([^,]*)/.exec(identifier)?.[1];
  const by = renewer
    ? `Only ${renewer} may: the ResourceManager has to be that (yarn.resourcemanager.principal). `
    : "";
  return (
    `The ResourceManager refuses the job, because it cannot renew the delegation token ${kind} for ${service}\n` +
    `  ${by}If it does not know that nameservice, mapreduce.job.send-token-conf=dfs\\..* tells it; if it cannot reach it,\n` +
    "  name it in mapreduce.job.hdfs-servers.token-renewal.exclude. A token that was given may have ended: obtain it again"
  );
}

import { errorMessage } from "../../errors.ts";
import { AuthenticationError, type AuthenticationErrorCode } from "../errors.ts";
import type { KeytabLogin } from "./gss-api.ts";
import type { TicketCache } from "./ticket-cache.ts";

/** What was being attempted when a Kerberos library failed. */
export interface KerberosAttempt {
  /** Absent: the tickets that the environment names. */
  readonly login?: KeytabLogin | undefined;
  /** Where tickets were looked for; absent with a keytab. */
  readonly cache?: TicketCache | undefined;
  /** The server that we wanted to reach, if it had come to that. */
  readonly server?: string | undefined;
}

interface Trouble {
  readonly code: AuthenticationErrorCode;
  readonly what: string;
  /** The remedy for a person. */
  readonly mend: string;
}

/**
 * MIT Kerberos' messages for problems that people can fix, and what to tell them. Its error numbers differ between mechanisms, its messages
 * do not.
 */
const troubles: readonly (readonly [RegExp, (attempt: KerberosAttempt) => Trouble])[] = [
  [
    /no kerberos credentials available|no credentials cache found|matching credential not found|SPNEGO cannot find mechanisms/i,
    ({ cache }) => ({
      code: "KERBEROS_NO_TICKET",
      what: `there is no Kerberos ticket${cache === undefined ? "" : ` in ${cache.name}`}`,
      mend: "kinit; klist shows what is there, KRB5CCNAME names another cache",
    }),
  ],
  [
    /credentials? ha(?:s|ve) expired|ticket expired/i,
    ({ login, cache }) => ({
      code: "KERBEROS_TICKET_EXPIRED",
      what: `the Kerberos ticket ${ticketWords(cache)}has expired`,
      mend:
        login === undefined
          ? `kinit ${cache?.principal ?? ""}`.trimEnd().concat("; klist shows until when a ticket is valid")
          : keytabMend(login),
    }),
  ],
  [
    /clock skew too great|ticket not yet valid/i,
    () => ({
      code: "KERBEROS_CLOCK_SKEW",
      what: "the clock of this machine differs too much from the KDC's or the server's",
      mend: "set it: timedatectl shows whether it is kept in step (5 min are allowed as a rule)",
    }),
  ],
  [
    /server.* not found in kerberos database/i,
    ({ server }) => ({
      code: "KERBEROS_SERVER",
      what: `the KDC does not know the server ${server ?? ""}`,
      mend: "compare its principal in the cluster's configuration, and domain_realm in krb5.conf",
    }),
  ],
  [
    /client.* not found in kerberos database/i,
    ({ login }) => ({
      code: "KERBEROS_REALM",
      what: `the KDC does not know ${login?.principal ?? "the ticket's principal"}`,
      mend: "is it of this realm, and is the realm's KDC the one in krb5.conf (KRB5_CONFIG)?",
    }),
  ],
  [
    /cannot (?:find|contact any|resolve network address for) kdc|no such realm|realm not local|illegal cross-realm/i,
    () => ({
      code: "KERBEROS_REALM",
      what: "no KDC of the realm can be reached",
      mend: "krb5.conf (KRB5_CONFIG, else /etc/krb5.conf) must name the realm's KDC, and it must run",
    }),
  ],
  [
    /default realm|configuration file|krb5\.conf/i,
    () => ({
      code: "KERBEROS_REALM",
      what: "Kerberos is not set up on this machine",
      mend: "krb5.conf (KRB5_CONFIG, else /etc/krb5.conf) must name the default realm and its KDC",
    }),
  ],
  [
    /preauthentication failed|decrypt integrity check failed|key version .*not available|no key table entry/i,
    ({ login }) => ({
      code: "KERBEROS_KEYTAB",
      what: "the KDC does not accept the key",
      mend: login === undefined ? "kinit again" : keytabMend(login),
    }),
  ],
];

function ticketWords(cache: TicketCache | undefined): string {
  if (cache === undefined) return "";
  return cache.principal === undefined ? `in ${cache.name} ` : `of ${cache.principal} in ${cache.name} `;
}

function keytabMend({ principal, keytab }: KeytabLogin): string {
  return `kinit -kt ${keytab} ${principal} tries the keytab by itself; kadmin replaces one that is out of date: ktadd`;
}

/**
 * Explains the message of a server that rejects a ticket (Java's SaslException). It never says why; the server's log does.
 * @returns undefined for any other error
 */
export function refusedTicket(
  cause: unknown,
  { login, cache, server = "The server" }: KerberosAttempt,
): AuthenticationError | undefined {
  const words = errorMessage(cause);
  if (!/GSS initiate failed/.test(words)) return undefined;
  const who = login?.principal ?? cache?.principal;
  const whose = who === undefined ? "" : ` of ${who}`;
  return new AuthenticationError(
    `${server} refuses the Kerberos ticket${whose}, and does not say why (${words})\n` +
      "  Most often the clocks differ (timedatectl shows whether this one is kept in step), or its keytab is older than its key: its log says which; " +
      "kdestroy and kinit rule out a ticket from before",
    { code: "KERBEROS_SERVER", cause },
  );
}

/** A Kerberos library's failure as an error that says who, where and how to fix it; the library's own words stay in the message. */
export function kerberosError(cause: unknown, attempt: KerberosAttempt): AuthenticationError {
  if (cause instanceof AuthenticationError) return cause;
  const words = errorMessage(cause);
  const found = troubles.find(([pattern]) => pattern.test(words))?.[1](attempt);
  const { login, cache, server } = attempt;
  const byTicket = cache?.principal === undefined ? "" : ` as ${cache.principal}`;
  const who = login === undefined ? byTicket : ` as ${login.principal} (${login.keytab})`;
  const whom = server === undefined ? "" : ` to ${server}`;
  const { code, what, mend }: Trouble = found ?? {
    code: "KERBEROS_FAILED",
    what: "the Kerberos library refused",
    mend: "KRB5_TRACE=/dev/stderr in the environment shows what it does",
  };
  return new AuthenticationError(`Cannot log in${who}${whom}: ${what} (${words})\n  ${mend}`, { code, cause });
}

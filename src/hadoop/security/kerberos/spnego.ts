import { AuthenticationError } from "../errors.ts";
import type { GssContext } from "./gss-api.ts";
import type { KerberosPackage } from "./kerberos-package.ts";
import type { KerberosLogin } from "./login.ts";
import { ticketServer } from "./ticket-server.ts";

/** One negotiation with a web server. */
export type SpnegoContext = Pick<GssContext, "step">;

/** Begins a negotiation with a host's web server. Rejects with what the Kerberos library says. */
export type Spnego = (host: string) => Promise<SpnegoContext>;

/**
 * Chooses who negotiates: the package kerberos where it is installed, else libgssapi as for RPC. The package knows the tickets that the
 * environment names and no others, so a keytab's login is libgssapi's.
 */
export async function chooseSpnego(
  login: KerberosLogin,
  load: () => Promise<KerberosPackage> = () => import("kerberos"),
): Promise<Spnego> {
  const kerberos = login.keytab === undefined ? await load().catch(() => undefined) : undefined;
  return kerberos === undefined ? byLibrary(login) : byPackage(kerberos);
}

function byLibrary(login: KerberosLogin): Spnego {
  return async (host) => {
    const api = await login.api();
    return api.initiate(await login.credential(), "spnego", `HTTP/${host}@${await login.realmOf(host)}`);
  };
}

/** The package knows servers by host alone, for which its library asks DNS (`dns_canonicalize_hostname`): what that chose is looked at first. */
function byPackage(kerberos: KerberosPackage): Spnego {
  return async (host) => {
    const client = await kerberos.initializeClient(`HTTP@${host}`, {
      mechOID: kerberos.GSS_MECH_OID_SPNEGO,
      gssFlag: kerberos.GSS_C_MUTUAL_FLAG | kerberos.GSS_C_SEQUENCE_FLAG,
    });
    let isFirst = true;
    return {
      step: async (challenge) => {
        await client.step(Buffer.from(challenge).toString("base64"));
        const token = Buffer.from(client.response ?? "", "base64");
        if (isFirst) checkServer(token, `HTTP/${host}`);
        isFirst = false;
        return { token, done: client.contextComplete };
      },
    };
  };
}

function checkServer(token: Buffer, wanted: string): void {
  const server = serverOf(token);
  if (server === wanted) return;
  throw new AuthenticationError(
    `The package kerberos has a ticket for ${server} instead of ${wanted}, which the configuration names: it is not shown\n` +
      "  dns_canonicalize_hostname = false in krb5.conf has the host taken as it is written; without that package tony-ts does so by itself",
    { code: "KERBEROS_SERVER" },
  );
}

function serverOf(token: Buffer): string {
  try {
    return ticketServer(token);
  } catch (error) {
    if (error instanceof RangeError) return `nobody (${error.message})`;
    throw error;
  }
}

import type { GssContext } from "./gss-api.ts";
import type { KerberosPackage } from "./kerberos-package.ts";
import type { KerberosLogin } from "./login.ts";

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

function byPackage(kerberos: KerberosPackage): Spnego {
  return async (host) => {
    const client = await kerberos.initializeClient(`HTTP@${host}`, {
      mechOID: kerberos.GSS_MECH_OID_SPNEGO,
      gssFlag: kerberos.GSS_C_MUTUAL_FLAG | kerberos.GSS_C_SEQUENCE_FLAG,
    });
    return {
      step: async (token) => {
        await client.step(Buffer.from(token).toString("base64"));
        return { token: Buffer.from(client.response ?? "", "base64"), done: client.contextComplete };
      },
    };
  };
}

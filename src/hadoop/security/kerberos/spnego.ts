import { AuthenticationError } from "../errors.ts";
import { DerTag, type DerValue, derContent, derValues } from "../tls/der.ts";
import type { GssContext } from "./gss-api.ts";
import type { KerberosPackage } from "./kerberos-package.ts";
import type { KerberosLogin } from "./login.ts";

/** Tags of GSS-API's first token (RFC 2743 §3.1), of SPNEGO (RFC 4178 §4.2) and of Kerberos (RFC 4120 §5). */
const firstToken = 0x60;
const negotiationStart = 0xa0;
const mechanismToken = 0xa2;
const applicationRequest = 0x6e;
const ticketTag = 0x61;
/** Positions in a sequence: AP-REQ's ticket, the ticket's `sname`, the parts of that name. */
const ticketPlace = 3;
const namePlace = 2;
const partsPlace = 1;

/**
 * The server whose ticket the first token of a negotiation contains: `HTTP/nn.example.com`, without its realm.
 * @throws RangeError for a token without a Kerberos ticket
 */
export function ticketServer(token: Buffer): string {
  const [, negotiation] = derValues(inside(token, firstToken));
  if (negotiation?.tag !== negotiationStart) throw new RangeError("it is not a negotiation");
  const fields = sequence(negotiation.content);
  const mechanism = fields.findIndex(({ tag }) => tag === mechanismToken);
  const kerberos = derValues(inside(inside(derContent(fields, mechanism), DerTag.octets), firstToken));
  // The token id (01 00) between the mechanism and the request parses as a value without content.
  const request = sequence(derContent(kerberos, 2, applicationRequest));
  const ticket = sequence(inside(derContent(request, ticketPlace), ticketTag));
  const name = sequence(derContent(ticket, namePlace));
  const parts = sequence(derContent(name, partsPlace));
  return parts.map(({ content }) => content.toString()).join("/");
}

function inside(bytes: Buffer, tag: number): Buffer {
  return derContent(derValues(bytes), 0, tag);
}

function sequence(bytes: Buffer): readonly DerValue[] {
  return derValues(inside(bytes, DerTag.sequence));
}

/** One negotiation with a web server. */
export type SpnegoContext = Pick<GssContext, "step">;

/** Begins a negotiation with a host's web server. Rejects with the Kerberos library's error. */
export type Spnego = (host: string) => Promise<SpnegoContext>;

/**
 * Chooses the negotiator: the package kerberos where it is installed, else libgssapi as for RPC. The package can use only the tickets that
 * the environment names, so a keytab login uses libgssapi.
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

/**
 * The package identifies servers only by host, whose name its library canonicalizes through DNS (`dns_canonicalize_hostname`), so the
 * server in its ticket is checked first.
 */
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

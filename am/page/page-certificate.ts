import { createPrivateKey, X509Certificate } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { ServerOptions } from "node:https";
import { TLSSocket } from "node:tls";
import { jksKeyPair } from "../../src/hadoop/security/tls/jks.ts";

/**
 * The certificate with which the page is served to YARN's proxy where the site's `yarn.resourcemanager.application-https.policy` is not
 * `NONE`.
 */
export interface PageCertificate {
  readonly options: ServerOptions;
  /** The ResourceManager's own certificate: a client that shows it, and has its key, is YARN's proxy. */
  readonly authority: X509Certificate;
}

/**
 * Reads the key store that YARN gives an ApplicationMaster (org.apache.hadoop.yarn.server.webproxy.ProxyCA#createChildKeyStore): a key, the
 * application's certificate, and the ResourceManager's certificate, which signed it.
 * @throws RangeError for a store of another kind
 */
export function pageCertificate(keyStore: Buffer, password: string): PageCertificate {
  const { key, certificates } = jksKeyPair(keyStore, password);
  const chain = certificates.map((bytes) => new X509Certificate(bytes));
  const authority = chain.at(-1);
  if (authority === undefined) throw new RangeError("there is no certificate in it");
  return {
    authority,
    options: {
      key: createPrivateKey({ key, format: "der", type: "pkcs8" }).export({ format: "pem", type: "pkcs8" }),
      // The proxy accepts a chain of exactly these two (ProxyCA#createTrustManager).
      cert: chain.join(""),
      ca: String(authority),
      requestCert: true,
      // Everybody is answered; `userOf` checks who shows which certificate.
      rejectUnauthorized: false,
    },
  };
}

/**
 * The user for whom YARN's proxy asks; undefined: it names none, or the caller is not the proxy. Other applications have certificates by the
 * same authority, so only the proxy's own certificate proves anything.
 */
export function userOf({ socket, headers }: IncomingMessage, { authority }: PageCertificate): string | undefined {
  const shown = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
  if (shown?.raw.equals(authority.raw) !== true) return undefined;
  // Its only cookie, as java.net.URLEncoder writes it (org.apache.hadoop.yarn.server.webproxy.WebAppProxyServlet#proxyLink).
  return new URLSearchParams(headers.cookie).get("proxy-user") || undefined;
}

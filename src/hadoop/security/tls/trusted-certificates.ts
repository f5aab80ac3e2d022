import { readFileSync } from "node:fs";
import type { Configuration } from "../../conf/configuration.ts";
import { findSiteFile } from "../../conf/site-files.ts";
import { readPropertiesFile } from "../../conf/xml.ts";
import { errorMessage, HadoopError } from "../../errors.ts";
import { isJks, jksCertificates } from "./jks.ts";
import { pkcs12Certificates } from "./pkcs12.ts";

const pemMark = "-----BEGIN CERTIFICATE-----";

/**
 * The certificates of a trust store, as PEM. It may be PEM itself, a Java key store or PKCS #12; the bytes decide which (as in Java,
 * whatever type the configuration names).
 * @param file for messages
 * @throws HadoopError with code `TRUST_STORE`
 */
export function trustedInStore(bytes: Buffer, file: string, password: string | undefined): string {
  const text = bytes.toString("latin1");
  if (text.includes(pemMark)) return text;
  try {
    const certificates = isJks(bytes) ? jksCertificates(bytes, password) : pkcs12Certificates(bytes, password);
    if (certificates.length === 0) throw new RangeError("there is no certificate in it");
    return certificates.map(pem).join("");
  } catch (cause) {
    throw new HadoopError(
      `The trust store ${file} cannot be read: ${errorMessage(cause)}\n  keytool -list -keystore ${file} shows what it is`,
      { code: "TRUST_STORE", cause },
    );
  }
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString("base64").match(/.{1,64}/g) ?? [];
  return [pemMark, ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}

const defaultFile = "ssl-client.xml";
const location = "ssl.client.truststore.location";

/**
 * The certificates that a site's `ssl-client.xml` trusts (`hadoop.ssl.client.conf`,
 * org.apache.hadoop.security.ssl.FileBasedKeyStoresFactory), as PEM.
 * @param path the folders with the site files
 * @returns undefined if no trust store is named
 * @throws HadoopError with code `TRUST_STORE` for one that cannot be read
 */
export function siteCertificates(configuration: Configuration, path: string): string | undefined {
  const file = findSiteFile(path, configuration.get("hadoop.ssl.client.conf") || defaultFile);
  if (file === undefined) return undefined;
  const settings = configuration.with(readPropertiesFile(file));
  const store = settings.get(location);
  return store
    ? certificatesIn(store, settings.get("ssl.client.truststore.password"), settings.describe(location))
    : undefined;
}

/**
 * The certificates of a PEM file or a key store, as PEM.
 * @param namedBy what names the file, for messages
 * @throws HadoopError with code `TRUST_STORE`
 */
export function certificatesIn(file: string, password: string | undefined, namedBy: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (cause) {
    throw new HadoopError(`${namedBy} names a trust store that cannot be read: ${errorMessage(cause)}`, {
      code: "TRUST_STORE",
      cause,
    });
  }
  return trustedInStore(bytes, file, password);
}

import { errorMessage, HadoopError } from "../../errors.ts";
import { isJks, jksCertificates } from "./jks.ts";
import { pkcs12Certificates } from "./pkcs12.ts";

const pemMark = "-----BEGIN CERTIFICATE-----";

/**
 * The certificates of a file that says whom to trust, as PEM: PEM itself, a Java key store or PKCS #12, whichever the bytes are (Java too
 * goes by that, whatever the configuration calls the type).
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

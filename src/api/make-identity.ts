import { generateKeyPairSync, randomBytes } from "node:crypto";
import { type ApplicationIdentity, executorServerName, masterServerName } from "./identity.ts";
import { makeSelfSignedCertificate } from "./self-signed-certificate.ts";

const HOUR_MS = 3_600_000;
/** Clocks of client and nodes may differ by this much. */
const CLOCK_TOLERANCE_MS = 24 * HOUR_MS;
/** Longer than any job; the certificate is useless after its application has ended anyway. */
const VALIDITY_MS = 5 * 365 * 24 * HOUR_MS;
const SECRET_BYTES = 32;

/** A new identity for one application. */
export function makeIdentity(applicationId: string, nowMs: number): ApplicationIdentity {
  return {
    applicationId,
    master: makeKeyAndCertificate(masterServerName(applicationId), nowMs),
    executor: makeKeyAndCertificate(executorServerName(applicationId), nowMs),
    executorSecret: randomBytes(SECRET_BYTES).toString("base64url"),
    clientSecret: randomBytes(SECRET_BYTES).toString("base64url"),
  };
}

function makeKeyAndCertificate(serverName: string, nowMs: number) {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    certificate: makeSelfSignedCertificate({
      serverName,
      publicKey,
      privateKey,
      notBefore: new Date(nowMs - CLOCK_TOLERANCE_MS),
      notAfter: new Date(nowMs + VALIDITY_MS),
    }),
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

import { generateKeyPairSync } from "node:crypto";
import { makeSelfSignedCertificate } from "./self-signed-certificate.ts";

/** A key and its self-signed certificate, both PEM. */
export interface KeyAndCertificate {
  readonly certificate: string;
  readonly privateKey: string;
}

const DAY_MS = 86_400_000;
/** Clocks of two nodes may differ by this much. */
const CLOCK_TOLERANCE_MS = DAY_MS;
/** Longer than one attempt of an ApplicationMaster lives; the next one makes a key of its own. */
const VALIDITY_MS = 366 * DAY_MS;

/**
 * A new key for one server, made by the process that serves: it is in no file, and gone with the process. Callers do not look at the
 * certificate's name or dates: who holds the key is what is proved (authentication.ts).
 */
export function makeServerKey(serverName: string, nowMs: number): KeyAndCertificate {
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

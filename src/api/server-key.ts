import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** DER tags (X.690) as X.509 uses them. */
const tag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  /** [0] of TBSCertificate: the version. */
  version: 0xa0,
  /** [2] of GeneralName: dNSName. */
  dnsName: 0x82,
  /** [3] of TBSCertificate: the extensions. */
  extensions: 0xa3,
} as const;

/** Contents of the object identifiers that we write; the comments give the dotted forms. */
const oid = {
  /** 1.2.840.10045.4.3.2 */
  ecdsaWithSha256: "2a8648ce3d040302",
  /** 2.5.4.3 */
  commonName: "550403",
  /** 2.5.29.15 */
  keyUsage: "551d0f",
  /** 2.5.29.17 */
  subjectAlternativeName: "551d11",
  /** 2.5.29.19 */
  basicConstraints: "551d13",
  /** 2.5.29.37 */
  extendedKeyUsage: "551d25",
  /** 1.3.6.1.5.5.7.3.1 */
  serverAuthentication: "2b06010505070301",
} as const;

interface CertificateRequest {
  /** At most 64 characters, because it is the common name too (RFC 5280, ub-common-name). */
  readonly serverName: string;
  /** An EC key on P-256. */
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/**
 * A self-signed X.509 v3 certificate for a server of one name, as PEM (RFC 5280 §4.1). Only this one form is ever needed, so it is written
 * here in DER rather than by a library (docs/makers/decisions/0050).
 */
function makeSelfSignedCertificate(request: CertificateRequest): string {
  const name = der(
    tag.sequence,
    der(tag.set, der(tag.sequence, objectIdentifier("commonName"), utf8(request.serverName))),
  );
  const toBeSigned = der(
    tag.sequence,
    der(tag.version, integer(Buffer.of(2))),
    integer(positive(randomBytes(16))),
    algorithm(),
    name,
    der(tag.sequence, time(request.notBefore), time(request.notAfter)),
    name,
    request.publicKey.export({ type: "spki", format: "der" }),
    der(tag.extensions, der(tag.sequence, ...extensions(request.serverName))),
  );
  const signature = sign("sha256", toBeSigned, request.privateKey);
  return pem(der(tag.sequence, toBeSigned, algorithm(), bitString(signature, 0)));
}

function extensions(serverName: string): Buffer[] {
  const digitalSignature = bitString(Buffer.of(0x80), 7);
  return [
    extension("basicConstraints", true, der(tag.sequence)),
    extension("keyUsage", true, digitalSignature),
    extension("extendedKeyUsage", false, der(tag.sequence, objectIdentifier("serverAuthentication"))),
    extension("subjectAlternativeName", false, der(tag.sequence, der(tag.dnsName, Buffer.from(serverName, "ascii")))),
  ];
}

function extension(name: keyof typeof oid, critical: boolean, value: Buffer): Buffer {
  const flag = critical ? [der(tag.boolean, Buffer.of(0xff))] : [];
  return der(tag.sequence, objectIdentifier(name), ...flag, der(tag.octetString, value));
}

function algorithm(): Buffer {
  return der(tag.sequence, objectIdentifier("ecdsaWithSha256"));
}

/** Tag, length in the shortest form, contents. */
function der(kind: number, ...contents: readonly Buffer[]): Buffer {
  const body = Buffer.concat(contents);
  if (body.length < 0x80) return Buffer.concat([Buffer.of(kind, body.length), body]);
  const length = Buffer.from(body.length.toString(16).padStart(body.length > 0xff ? 4 : 2, "0"), "hex");
  return Buffer.concat([Buffer.of(kind, 0x80 | length.length), length, body]);
}

function objectIdentifier(name: keyof typeof oid): Buffer {
  return der(tag.objectIdentifier, Buffer.from(oid[name], "hex"));
}

function integer(bytes: Buffer): Buffer {
  return der(tag.integer, bytes);
}

/** First bit 0 (not negative) and first byte not 0 (shortest form). */
function positive(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.of(0x40 | ((bytes[0] ?? 0) & 0x3f)), bytes.subarray(1)]);
}

function utf8(text: string): Buffer {
  return der(tag.utf8String, Buffer.from(text, "utf8"));
}

function bitString(bytes: Buffer, unusedBits: number): Buffer {
  return der(tag.bitString, Buffer.of(unusedBits), bytes);
}

/** RFC 5280 §4.1.2.5: two digits of the year until 2049, four from 2050. */
function time(at: Date): Buffer {
  const digits = at.toISOString().replace(/[-:T]/g, "").slice(0, 14);
  return at.getUTCFullYear() < 2050
    ? der(tag.utcTime, Buffer.from(`${digits.slice(2)}Z`))
    : der(tag.generalizedTime, Buffer.from(`${digits}Z`));
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

/** A key and its self-signed certificate, both PEM. */
export interface KeyAndCertificate {
  readonly certificate: string;
  readonly privateKey: string;
}

const DAY_MS = 86_400_000;
/** The clocks of two nodes may differ by this much. */
const CLOCK_TOLERANCE_MS = DAY_MS;
/** Longer than an attempt of an ApplicationMaster lives; the next one makes its own key. */
const VALIDITY_MS = 366 * DAY_MS;

/**
 * A new key for one server, made by the process that serves: it is never written to a file and disappears with the process. Callers ignore
 * the certificate's name and dates, because the proof shows who holds the key (authentication.ts).
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

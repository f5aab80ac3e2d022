import { HadoopError } from "../errors.ts";
import { WritableReader, writeBytes, writeText } from "./writable.ts";

/** A security token (org.apache.hadoop.security.token.Token); identifier and password are opaque. */
export interface Token {
  readonly identifier: Uint8Array;
  readonly password: Uint8Array;
  /** One of TokenKind, or another service's. */
  readonly kind: string;
  /** What it opens: `ip:port`, `ha-hdfs:nameservice`; empty where the kind alone says it. */
  readonly service: string;
}

/** Kinds of tokens, as their Java classes name them (`TokenIdentifier#getKind`). */
export const TokenKind = {
  /** Opens the ResourceManager's scheduler to one application attempt. */
  applicationMaster: "YARN_AM_RM_TOKEN",
  node: "NMToken",
  container: "ContainerToken",
  resourceManagerDelegation: "RM_DELEGATION_TOKEN",
  hdfsDelegation: "HDFS_DELEGATION_TOKEN",
  webHdfsDelegation: "WEBHDFS delegation",
  secureWebHdfsDelegation: "SWEBHDFS delegation",
  keyManagement: "kms-dt",
  timeline: "TIMELINE_DELEGATION_TOKEN",
  client: "YARN_CLIENT_TOKEN",
} as const;

/**
 * A token as Hadoop serializes it (org.apache.hadoop.security.token.Token#write): bytes identifier | bytes password | Text kind | Text
 * service.
 */

/** Throws RangeError when the bytes end too early. */
export function readToken(reader: WritableReader): Token {
  const [identifier, password] = [reader.bytes(), reader.bytes()];
  return { identifier, password, kind: reader.text(), service: reader.text() };
}

export function writeToken({ identifier, password, kind, service }: Token): Uint8Array {
  return Buffer.concat([writeBytes(identifier), writeBytes(password), writeText(kind), writeText(service)]);
}

/** As web servers give and take it: `delegation=…` (Token#encodeToUrlString). */
export function tokenToUrlText(token: Token): string {
  return Buffer.from(writeToken(token)).toString("base64url");
}

/** Throws a HadoopError with code `TOKEN_MALFORMED`. */
export function tokenFromUrlText(text: string): Token {
  try {
    return readToken(new WritableReader(Buffer.from(text, "base64url")));
  } catch (cause) {
    throw new HadoopError("A server gave a delegation token that cannot be read", { code: "TOKEN_MALFORMED", cause });
  }
}

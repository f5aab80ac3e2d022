/**
 * A token as Hadoop serializes it (org.apache.hadoop.security.token.Token#write): bytes identifier | bytes password | Text kind | Text
 * service.
 */
import { HadoopError } from "../errors.ts";
import type { Token } from "./token.ts";
import { WritableReader, writeBytes, writeText } from "./writable.ts";

/** Throws RangeError when the bytes end too early. */
export function readToken(reader: WritableReader): Token {
  const [identifier, password] = [reader.bytes(), reader.bytes()];
  return { identifier, password, kind: reader.text(), service: reader.text() };
}

export function writeToken({ identifier, password, kind, service }: Token): Uint8Array {
  return Buffer.concat([writeBytes(identifier), writeBytes(password), writeText(kind), writeText(service)]);
}

/** The form that web servers exchange: `delegation=…` (Token#encodeToUrlString). */
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

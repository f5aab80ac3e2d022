/**
 * The token that a ResourceManager on a secure cluster gives to those who may see an application, in its report: with it they prove to its
 * ApplicationMaster who they are (org.apache.hadoop.yarn.security.client.ClientToAMTokenSecretManager).
 */
import { createHmac } from "node:crypto";
import protobuf from "protobufjs/minimal.js";

/**
 * The password that belongs to a token's identifier.
 * @param masterKey the attempt's, from its registration (SecretManager#createPassword: HMAC-SHA-1)
 */
export function clientTokenPassword(masterKey: Uint8Array, identifier: Uint8Array): Uint8Array {
  return createHmac("sha1", masterKey).update(identifier).digest();
}

/** ClientToAMTokenIdentifierProto: appAttemptId = 1, clientName = 2. */
const clientNameField = 2;
const lengthDelimited = 2;

/** Whom a token is for, a Kerberos principal; empty in bytes that are no identifier. */
export function clientOfToken(identifier: Uint8Array): string {
  const reader = protobuf.Reader.create(identifier);
  try {
    for (let client = ""; ; ) {
      if (reader.pos >= reader.len) return client;
      const tag = reader.uint32();
      if (tag === ((clientNameField << 3) | lengthDelimited)) client = reader.string();
      else reader.skipType(tag & 7);
    }
  } catch {
    return "";
  }
}

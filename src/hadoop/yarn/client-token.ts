/**
 * The token in an application's report, which the ResourceManager of a secure cluster gives to those who may view the application: with it
 * they authenticate to the ApplicationMaster (org.apache.hadoop.yarn.security.client.ClientToAMTokenSecretManager).
 */
import { createHmac } from "node:crypto";
import protobuf from "protobufjs/minimal.js";

/**
 * The password for a token's identifier.
 * @param masterKey the attempt's, from its registration (SecretManager#createPassword: HMAC-SHA-1)
 */
export function clientTokenPassword(masterKey: Uint8Array, identifier: Uint8Array): Uint8Array {
  return createHmac("sha1", masterKey).update(identifier).digest();
}

/** ClientToAMTokenIdentifierProto: appAttemptId = 1, clientName = 2. */
const clientNameField = 2;
const lengthDelimited = 2;

/** The Kerberos principal that a token was issued to; empty for bytes that are no identifier. */
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

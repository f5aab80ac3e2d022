/**
 * Hadoop's token storage files (org.apache.hadoop.security.Credentials):
 *
 *     "HDTS" | version
 *     version 0:  vint count, then per token: Text alias | bytes identifier | bytes password | Text kind | Text service
 *                 vint count, then per secret: Text alias | bytes          (Text and bytes: vint length, then that many bytes)
 *     version 1:  varint-delimited CredentialsProto
 */
import { HadoopError } from "../errors.ts";
import { decodeDelimited, encodeDelimited } from "../wire/codec.ts";
import { common } from "../wire/common.ts";
import type { Credentials, NamedToken } from "./credentials.ts";
import { readToken, writeToken } from "./token-writable.ts";
import { WritableReader, writeBytes, writeText, writeVint } from "./writable.ts";

/** 0 is Hadoop's own serialization, which YARN writes and every version reads; 1 is protobuf. */
export type TokenFileVersion = 0 | 1;

const magic = Buffer.from("HDTS");
const headerBytes = magic.length + 1;

/** The tokens and secrets in a token file. Throws a HadoopError with code `TOKEN_FILE_MALFORMED`. */
export function readTokenFile(bytes: Uint8Array): Credentials {
  const version = bytes[magic.length];
  if (version === undefined || !magic.equals(bytes.subarray(0, magic.length))) {
    throw malformed("it does not start with HDTS and a version");
  }
  if (version !== 0 && version !== 1) throw malformed(`version ${version} is not known`);
  const body = bytes.subarray(headerBytes);
  try {
    return version === 0 ? readWritable(body) : readProtobuf(body);
  } catch (cause) {
    throw malformed("its contents are cut short or damaged", cause);
  }
}

/** The bytes of a token file, which are also the value of ContainerLaunchContext's `tokens`. */
export function writeTokenFile(credentials: Credentials, version: TokenFileVersion = 0): Uint8Array {
  const body = version === 0 ? writeWritable(credentials) : writeProtobuf(credentials);
  return Buffer.concat([magic, Uint8Array.of(version), body]);
}

function readWritable(body: Uint8Array): Credentials {
  const reader = new WritableReader(body);
  const tokens: NamedToken[] = [];
  for (let count = reader.count(); count > 0; count -= 1) {
    const alias = reader.text();
    tokens.push({ alias, token: readToken(reader) });
  }
  const secrets = new Map<string, Uint8Array>();
  for (let count = reader.count(); count > 0; count -= 1) secrets.set(reader.text(), reader.bytes());
  return { tokens, secrets };
}

function writeWritable({ tokens, secrets }: Credentials): Uint8Array {
  const parts = [writeVint(tokens.length)];
  for (const { alias, token } of tokens) parts.push(writeText(alias), writeToken(token));
  parts.push(writeVint(secrets.size));
  for (const [alias, secret] of secrets) parts.push(writeText(alias), writeBytes(secret));
  return Buffer.concat(parts);
}

function readProtobuf(body: Uint8Array): Credentials {
  const message = decodeDelimited(common.CredentialsProto, body);
  const tokens = (message.tokens ?? []).flatMap(({ alias, token }) => {
    if (!token) return [];
    const { identifier, password, kind, service } = token;
    return [{ alias, token: { identifier: copy(identifier), password: copy(password), kind, service } }];
  });
  const secrets = (message.secrets ?? []).map(
    ({ alias, secret }) => [alias, copy(secret ?? new Uint8Array(0))] as const,
  );
  return { tokens, secrets: new Map(secrets) };
}

function writeProtobuf({ tokens, secrets }: Credentials): Uint8Array {
  return encodeDelimited(common.CredentialsProto, {
    tokens: tokens.map(({ alias, token }) => ({ alias, token: { ...token } })),
    secrets: [...secrets].map(([alias, secret]) => ({ alias, secret })),
  });
}

function copy(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes);
}

function malformed(why: string, cause?: unknown): HadoopError {
  return new HadoopError(`The token file can't be read: ${why}`, { code: "TOKEN_FILE_MALFORMED", cause });
}

import type { NamedToken } from "../../src/hadoop/security/credentials.ts";
import { TokenKind } from "../../src/hadoop/security/token.ts";
import { writeText, writeVint } from "../../src/hadoop/security/writable.ts";

/**
 * A delegation token for an HDFS with these times, in milliseconds since the epoch (AbstractDelegationTokenIdentifier).
 */
export function aDelegationToken(issuedMs: number, maximumMs: number): NamedToken {
  const names = [writeText("ada"), writeText("yarn"), writeText("")];
  const identifier = Uint8Array.from(
    Buffer.concat([writeVint(0), ...names, writeVint(issuedMs), writeVint(maximumMs)]),
  );
  const password = Uint8Array.from(Buffer.from("pw"));
  const token = { identifier, password, kind: TokenKind.hdfsDelegation, service: "ha-hdfs:ns" };
  return { alias: token.service, token };
}

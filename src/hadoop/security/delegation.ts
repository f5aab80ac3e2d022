import protobuf from "protobufjs/minimal.js";
import { type Token, TokenKind } from "./token.ts";
import { WritableReader } from "./writable.ts";

/** The facts in a delegation token that everyone who holds it can read. */
export interface Delegation {
  /** The user whose rights it grants: a name, or a whole Kerberos principal. */
  readonly owner: string;
  /** Who may renew it; empty: nobody may. */
  readonly renewer: string;
  /** Milliseconds since the epoch, by the clock of the server that issued it. */
  readonly issuedMs: number;
  /** No renewal extends it beyond this time. It expires earlier if it is not renewed in time, which only its server knows. */
  readonly maximumMs: number;
}

/** Undefined for a token of another kind, or one that cannot be parsed. */
export function delegationOf({ kind, identifier }: Token): Delegation | undefined {
  try {
    if (protobufKinds.has(kind)) return fromProtobuf(identifier);
    return writableKinds.has(kind) ? fromWritable(identifier) : undefined;
  } catch {
    return undefined;
  }
}

/** org.apache.hadoop.yarn.security.client.YARNDelegationTokenIdentifier */
const protobufKinds: ReadonlySet<string> = new Set([TokenKind.resourceManagerDelegation, TokenKind.timeline]);
/** org.apache.hadoop.security.token.delegation.AbstractDelegationTokenIdentifier */
const writableKinds: ReadonlySet<string> = new Set([
  TokenKind.hdfsDelegation,
  TokenKind.webHdfsDelegation,
  TokenKind.secureWebHdfsDelegation,
  TokenKind.keyManagement,
]);

function fromWritable(identifier: Uint8Array): Delegation | undefined {
  const reader = new WritableReader(identifier);
  if (reader.vint() !== 0) return undefined;
  const [owner, renewer, _realUser] = [reader.text(), reader.text(), reader.text()];
  return { owner, renewer, issuedMs: reader.vint(), maximumMs: reader.vint() };
}

/** YARNDelegationTokenIdentifierProto: owner 1, renewer 2, realUser 3, issueDate 4, maxDate 5. */
function fromProtobuf(identifier: Uint8Array): Delegation {
  const reader = protobuf.Reader.create(identifier);
  const texts = new Map<number, string>();
  const times = new Map<number, number>();
  while (reader.pos < reader.len) {
    const [field, type] = fieldOf(reader.uint32());
    if (type === 2) texts.set(field, reader.string());
    else if (type === 0) times.set(field, Number(reader.int64()));
    else reader.skipType(type);
  }
  return {
    owner: texts.get(1) ?? "",
    renewer: texts.get(2) ?? "",
    issuedMs: times.get(4) ?? 0,
    maximumMs: times.get(5) ?? 0,
  };
}

const fieldOf = (tag: number) => [tag >>> 3, tag & 7] as const;

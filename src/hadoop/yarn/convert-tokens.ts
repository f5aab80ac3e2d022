/** Tokens ⇄ TokenProto. */

import type { Token } from "../security/token.ts";
import type { hadoop } from "../wire/yarn.ts";
import type { NodeToken } from "./allocation.ts";
import { nodeIdFromWire } from "./convert-ids.ts";

type TokenProto = hadoop.common.TokenProto.$Properties;

export function tokenToWire({ identifier, password, kind, service }: Token): TokenProto {
  return { identifier, password, kind, service };
}

/** Copies the bytes: a message's own are views of the received frame and would keep it alive. */
export function tokenFromWire(message: TokenProto): Token {
  return {
    identifier: Uint8Array.from(message.identifier),
    password: Uint8Array.from(message.password),
    kind: message.kind,
    service: message.service,
  };
}

export function nodeTokensFromWire(
  messages: readonly hadoop.yarn.NMTokenProto.$Properties[] | null | undefined,
): readonly NodeToken[] {
  return (messages ?? []).flatMap(({ nodeId, token }) =>
    token ? [{ nodeId: nodeIdFromWire(nodeId), token: tokenFromWire(token) }] : [],
  );
}

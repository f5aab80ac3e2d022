/** The headers and control messages of Hadoop IPC: names for its magic numbers, and a drawing of each packet. */
import type { User } from "../security/user.ts";
import { encodeDelimited } from "../wire/codec.ts";
import { common, type hadoop } from "../wire/common.ts";
import { RpcProtocolError } from "./errors.ts";
import { encodeFrame, readDelimited } from "./frame.ts";

export type SaslMessage = hadoop.common.RpcSaslProto.$Properties;
export type ResponseHeader = hadoop.common.RpcResponseHeaderProto;

/** org.apache.hadoop.ipc.RpcConstants and org.apache.hadoop.ipc.Server: call ids below 0 are not calls. */
export const connectionContextCallId = -3;
export const saslCallId = -33;

/** A call's retryCount; control messages carry −1. */
const firstTry = 0;
const noRetryCount = -1;
const noClientId = new Uint8Array(0);

export const SaslState = common.RpcSaslProto.SaslState;
export const RpcStatus = common.RpcResponseHeaderProto.RpcStatusProto;
export const RpcErrorCode = common.RpcResponseHeaderProto.RpcErrorCodeProto;

/**
 * The first bytes of a connection (org.apache.hadoop.ipc.Client.Connection#writeConnectionHeader):
 *
 *     "hrpc" | version 9 | service class 0 | authentication: 0 none, 0xDF (−33) SASL
 */
export function connectionHeader(authentication: "none" | "sasl"): Buffer {
  return Buffer.from([0x68, 0x72, 0x70, 0x63, 9, 0, authentication === "sasl" ? 0xdf : 0]);
}

/**
 * The frame that follows authentication: header(−3) | IpcConnectionContextProto. It gets no answer. With a token, the token itself names
 * the user.
 */
export function contextFrame(protocol: string, user: User | undefined, clientId: Uint8Array): Buffer {
  const userInfo = {
    ...(user === undefined ? {} : { effectiveUser: user.name }),
    ...(user?.realName === undefined ? {} : { realUser: user.realName }),
  };
  return encodeFrame(
    header(connectionContextCallId, noRetryCount, clientId),
    encodeDelimited(common.IpcConnectionContextProto, { userInfo, protocol }),
  );
}

/** header(−33) | RpcSaslProto */
export function saslFrame(message: SaslMessage): Buffer {
  return encodeFrame(header(saslCallId, noRetryCount, noClientId), encodeDelimited(common.RpcSaslProto, message));
}

/** header(callId) | RequestHeaderProto | request; `request` is varint-delimited already. */
export function callFrame(call: {
  readonly callId: number;
  readonly clientId: Uint8Array;
  readonly protocol: string;
  readonly method: string;
  readonly request: Uint8Array;
}): Buffer {
  const requestHeader = encodeDelimited(common.RequestHeaderProto, {
    methodName: call.method,
    declaringClassProtocolName: call.protocol,
    clientProtocolVersion: 1,
  });
  return encodeFrame(header(call.callId, firstTry, call.clientId), requestHeader, call.request);
}

/** A frame from the server: its header, the call it answers, and the bytes of the body (empty where the header reports a failure). */
export interface Reply {
  readonly header: ResponseHeader;
  /** The id as we sent it; on the wire it is unsigned. */
  readonly callId: number;
  readonly body: Uint8Array;
}

/** Throws RpcProtocolError when the frame is malformed. */
export function decodeReply(frame: Uint8Array): Reply {
  const { bytes, next } = readDelimited(frame, 0);
  const replyHeader = decoded("reply header", () => common.RpcResponseHeaderProto.decode(bytes));
  const body =
    replyHeader.status === RpcStatus.SUCCESS && next < frame.length ? readDelimited(frame, next).bytes : none;
  return { header: replyHeader, callId: replyHeader.callId | 0, body };
}

/** Throws RpcProtocolError when the message is malformed. */
export function decodeSasl(body: Uint8Array): SaslMessage {
  return decoded("SASL message", () => common.RpcSaslProto.decode(body));
}

const none = new Uint8Array(0);

function header(callId: number, retryCount: number, clientId: Uint8Array): Uint8Array {
  return encodeDelimited(common.RpcRequestHeaderProto, {
    rpcKind: common.RpcKindProto.RPC_PROTOCOL_BUFFER,
    rpcOp: common.RpcRequestHeaderProto.OperationProto.RPC_FINAL_PACKET,
    callId,
    clientId,
    retryCount,
  });
}

/** Runs a decoder and turns whatever it throws into a protocol error. */
export function decoded<Message>(what: string, decode: () => Message): Message {
  try {
    return decode();
  } catch (cause) {
    throw new RpcProtocolError(`The server's ${what} can't be decoded`, cause);
  }
}

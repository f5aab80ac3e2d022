import protobuf from "protobufjs/minimal.js";

/** What is used of a generated message type. */
export interface MessageType<Properties, Message> {
  encode(message: Properties, writer?: protobuf.Writer): protobuf.Writer;
  decode(bytes: Uint8Array): Message;
}

/** A message with its length in front, as a varint: how Hadoop IPC frames every message. */
export function encodeDelimited<Properties>(
  type: Pick<MessageType<Properties, unknown>, "encode">,
  message: Properties,
): Uint8Array {
  return type.encode(message, protobuf.Writer.create().fork()).ldelim().finish();
}

/** The message that stands at the start of `bytes` with its length in front. Throws RangeError when that is cut short. */
export function decodeDelimited<Message>(
  type: Pick<MessageType<never, Message>, "decode">,
  bytes: Uint8Array,
): Message {
  return type.decode(protobuf.Reader.create(bytes).bytes());
}

/** Bytes ⇄ messages of one method of a service. */
export interface WireMethod<Request, Response> {
  /** With its length in front as a varint, as Hadoop IPC takes it. */
  encode(request: Request): Uint8Array;
  /** Gets the message alone. Throws anything for bytes that are no such message. */
  decode(bytes: Uint8Array): Response;
}

/**
 * A method of a service from the two message types that protobufjs generates of its .proto.
 * @param request what is sent
 * @param response what comes back
 */
export function wireMethod<Request, Response>(
  request: Pick<MessageType<Request, unknown>, "encode">,
  response: Pick<MessageType<never, Response>, "decode">,
): WireMethod<Request, Response> {
  return {
    encode: (message) => encodeDelimited(request, message),
    decode: (bytes) => response.decode(bytes),
  };
}

import protobuf from "protobufjs/minimal.js";

/** The part of a generated message type that is used. */
export interface MessageType<Properties, Message> {
  encode(message: Properties, writer?: protobuf.Writer): protobuf.Writer;
  decode(bytes: Uint8Array): Message;
}

/** A message prefixed by its length as a varint: how Hadoop IPC frames every message. */
export function encodeDelimited<Properties>(
  type: Pick<MessageType<Properties, unknown>, "encode">,
  message: Properties,
): Uint8Array {
  return type.encode(message, protobuf.Writer.create().fork()).ldelim().finish();
}

/** The length-prefixed message at the start of `bytes`. Throws RangeError when it is truncated. */
export function decodeDelimited<Message>(
  type: Pick<MessageType<never, Message>, "decode">,
  bytes: Uint8Array,
): Message {
  return type.decode(protobuf.Reader.create(bytes).bytes());
}

/** Converts between bytes and messages for one method of a service. */
export interface WireMethod<Request, Response> {
  /** Prefixes the message with its length as a varint, as Hadoop IPC expects it. */
  encode(request: Request): Uint8Array;
  /** Takes the message alone. Throws anything for bytes that are no such message. */
  decode(bytes: Uint8Array): Response;
}

/**
 * A method of a service, made from the two message types that protobufjs generates from its .proto.
 * @param request the message that is sent
 * @param response the message that comes back
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

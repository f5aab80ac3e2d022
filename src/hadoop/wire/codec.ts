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

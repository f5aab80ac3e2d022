import { encodeDelimited, type MessageType } from "./codec.ts";

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

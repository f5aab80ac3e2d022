/** Typed access to the messages generated from proto/tony. Nothing outside src/api sees them. */
import type Long from "long";
import { tony } from "./generated/tony.js";

export const { v1 } = tony;
export type { tony };

/**
 * A 64-bit field as a number; absent is 0. protobufjs returns a Long if `long` is in the bundle. All values (times, sizes, offsets,
 * steps) are below 2^53.
 */
export function toNumber(value: number | Long | null | undefined): number {
  if (value === null || value === undefined) return 0;
  return typeof value === "number" ? value : value.toNumber();
}

/** How messages of one type are written and read. */
export interface Codec<Message> {
  serialize(message: Message): Buffer;
  deserialize(bytes: Buffer): Message;
}

/** The bytes of a protobuf writer, without a copy. */
export function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A bytes field; protobufjs decodes an absent one as a list, which means empty. */
export function toBytes(value: Uint8Array | null | undefined): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array();
}

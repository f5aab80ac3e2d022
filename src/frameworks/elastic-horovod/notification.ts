import { createHmac } from "node:crypto";
import { connect } from "node:net";

/** Where a Horovod process can be notified that others wait to train with it. */
export interface NotificationService {
  readonly port: number;
  readonly secret: Buffer;
}

/** Opcodes of Python's pickle (Lib/pickletools.py), with the number of bytes that follow; for three of them the length precedes the bytes. */
const NUMBERS = new Map([
  [0x4a, 4],
  [0x4b, 1],
  [0x4d, 2],
]);
const TEXTS = new Map([
  [0x58, 4],
  [0x8c, 1],
]);
const BYTES = new Map([
  [0x42, 4],
  [0x43, 1],
]);
/** Lists, tuples and dictionaries, and the memo with references to them. */
const STRUCTURE = new Map([
  ...[0x28, 0x5d, 0x61, 0x65, 0x73, 0x74, 0x75, 0x7d, 0x85, 0x86, 0x87, 0x94].map((opcode): [number, number] => [
    opcode,
    0,
  ]),
  ...[0x68, 0x71, 0x80].map((opcode): [number, number] => [opcode, 1]),
  ...[0x6a, 0x72].map((opcode): [number, number] => [opcode, 4]),
  [0x95, 8],
]);
const STOP = 0x2e;
const SECRET_BYTES = 32;

/**
 * Decodes a process's announcement of its service (horovod/runner/elastic/worker.py, WorkerNotificationManager#init): base64 of the
 * pickle of `({interface: [(address, port), …], …}, secret)`. Finds its one port and its one secret; a pickle can name code, which is
 * no danger, because nothing is built from it.
 * @throws RangeError when it is anything else
 */
export function readNotificationService(base64: string): NotificationService {
  const { numbers, bytes } = contentOf(Buffer.from(base64, "base64"));
  const [port, ...otherPorts] = new Set(numbers);
  const [secret, ...otherBytes] = bytes;
  const isOne = otherPorts.length === 0 && otherBytes.length === 0;
  if (!isOne || port === undefined || port < 1 || port > 65_535 || secret?.length !== SECRET_BYTES) {
    throw new RangeError("not the addresses and the secret of one service");
  }
  return { port, secret };
}

function contentOf(pickle: Buffer): { readonly numbers: readonly number[]; readonly bytes: readonly Buffer[] } {
  const numbers: number[] = [];
  const bytes: Buffer[] = [];
  let at = 0;
  const take = (length: number): Buffer => {
    if (at + length > pickle.length) throw new RangeError("a pickle that is cut short");
    at += length;
    return pickle.subarray(at - length, at);
  };
  const sized = (lengthBytes: number) => take(take(lengthBytes).readUIntLE(0, lengthBytes));
  for (let opcode = take(1).readUInt8(); opcode !== STOP; opcode = take(1).readUInt8()) {
    const [number, text, byte, other] = [NUMBERS, TEXTS, BYTES, STRUCTURE].map((kind) => kind.get(opcode));
    if (number !== undefined) numbers.push(take(number).readUIntLE(0, number));
    else if (text !== undefined) sized(text);
    else if (byte !== undefined) bytes.push(sized(byte));
    else if (other !== undefined) take(other);
    else throw new RangeError(`a pickle with opcode ${opcode}, which is not for numbers, texts and bytes`);
  }
  return { numbers, bytes };
}

/** HostUpdateResult.added (horovod/runner/elastic/worker.py): the others take the state of rank 0 when they continue. */
const ADDED = 2;

/**
 * The pickle of a HostsUpdatedRequest, in protocol 2.
 * @param number greater than those before it
 */
export function hostsUpdatedRequest(number: number): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.from("X"), int32(value.length), Buffer.from(value)]);
  const value = (of: number) => Buffer.concat([Buffer.from("J"), int32(of)]);
  return Buffer.concat([
    Buffer.from("\x80\x02", "latin1"),
    Buffer.from("chorovod.runner.elastic.worker\nHostsUpdatedRequest\n"),
    Buffer.from(")\x81}(", "latin1"),
    text("timestamp"),
    value(number),
    text("res"),
    value(ADDED),
    Buffer.from("ub."),
  ]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

/**
 * Tells a process of this container that others wait to train with it: it asks for its new slot at its next commit. Authentication and
 * framing are those of Horovod's own services (horovod/runner/common/util/network.py, Wire): HMAC-SHA256 of the message, its length, the
 * message.
 * @returns whether the process answered in time
 */
export function notify({ port, secret }: NotificationService, number: number, limitMs: number): Promise<boolean> {
  const message = hostsUpdatedRequest(number);
  const digest = createHmac("sha256", secret).update(message).digest();
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", timeout: limitMs });
    const end = (answered: boolean) => {
      socket.destroy();
      resolve(answered);
    };
    socket.once("connect", () => socket.write(Buffer.concat([digest, int32(message.length), message])));
    socket.once("data", () => end(true));
    for (const failure of ["timeout", "error", "close"] as const) socket.once(failure, () => end(false));
  });
}

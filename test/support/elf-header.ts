/** The values of e_machine in the System V ABI. */
const machines = { x64: 62, arm64: 183 } as const;

/** An executable's header with nothing after it: no format to complain about, and nothing that a machine could load. */
export function elfHeader(architecture: string): Buffer {
  const bytes = Buffer.alloc(128);
  bytes.writeUInt32BE(0x7f454c46, 0);
  bytes.set([2, 1, 1], 4); // 64 bits, little-endian, version 1
  bytes.writeUInt16LE(2, 16); // executable
  bytes.writeUInt16LE(architecture === "arm64" ? machines.arm64 : machines.x64, 18);
  bytes.writeUInt32LE(1, 20);
  bytes.writeBigUInt64LE(64n, 32); // its one program header, all zeros, comes right after this header
  bytes.writeUInt16LE(64, 52);
  bytes.writeUInt16LE(56, 54);
  return bytes;
}

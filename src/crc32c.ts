/** The Castagnoli polynomial, with its bits reversed. */
const POLYNOMIAL = 0x82f63b78;

/** How many bytes are processed at a time. Each has its own table, chosen by its distance from the last byte. */
const STRIDE = 8;

const TABLES = tables();

function tables(): Int32Array {
  const all = new Int32Array(STRIDE * 256);
  for (let byte = 0; byte < 256; byte += 1) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ ((crc & 1) * POLYNOMIAL);
    all[byte] = crc;
  }
  for (let at = 256; at < all.length; at += 1) {
    const before = all[at - 256] ?? 0;
    all[at] = (before >>> 8) ^ (all[before & 0xff] ?? 0);
  }
  return all;
}

/** Continues from `before`, the CRC of the preceding bytes; 0 at the start. */
export function crc32c(bytes: Uint8Array, before = 0): number {
  const table = (distance: number, byte: number) => TABLES[(distance << 8) | byte] ?? 0;
  let crc = ~before;
  let at = 0;
  for (; at + STRIDE <= bytes.length; at += STRIDE) {
    const byte = (nth: number) => bytes[at + nth] ?? 0;
    crc =
      table(7, (crc ^ byte(0)) & 0xff) ^
      table(6, ((crc >>> 8) ^ byte(1)) & 0xff) ^
      table(5, ((crc >>> 16) ^ byte(2)) & 0xff) ^
      table(4, (crc >>> 24) ^ byte(3)) ^
      table(3, byte(4)) ^
      table(2, byte(5)) ^
      table(1, byte(6)) ^
      table(0, byte(7));
  }
  for (; at < bytes.length; at += 1) crc = (crc >>> 8) ^ table(0, (crc ^ (bytes[at] ?? 0)) & 0xff);
  return ~crc >>> 0;
}

/** The masked CRC, as TensorFlow stores it (core/lib/hash/crc32c.h, Mask). */
export function masked(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

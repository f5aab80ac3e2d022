import { readFile } from "node:fs/promises";

/** What has come to this machine over its network since it started; what a machine sends itself is not counted. @returns {Promise<number>} */
export async function receivedBytes() {
  return countReceived(await readFile("/proc/net/dev", "utf8"));
}

/** @param {string} table of the kernel's devices (proc(5)): after a name and a colon the bytes received */
export function countReceived(table) {
  const devices = [...table.matchAll(/^\s*(\S+):\s*(\d+)/gm)].filter(([, name]) => name !== "lo");
  return devices.reduce((sum, [, , bytes]) => sum + Number(bytes), 0);
}

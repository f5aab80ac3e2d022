import { readFile } from "node:fs/promises";

/** The number of bytes that this machine has received over its network since its start, without traffic to itself. @returns {Promise<number>} */
export async function receivedBytes() {
  return countReceived(await readFile("/proc/net/dev", "utf8"));
}

/** @param {string} table the kernel's table of devices (proc(5)): after a name and a colon the received bytes */
export function countReceived(table) {
  const devices = [...table.matchAll(/^\s*(\S+):\s*(\d+)/gm)].filter(([, name]) => name !== "lo");
  return devices.reduce((sum, [, , bytes]) => sum + Number(bytes), 0);
}

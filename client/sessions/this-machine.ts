import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";

/** Whether a host is the machine that this process runs on. A host whose name cannot be resolved is not. */
export async function isThisMachine(host: string): Promise<boolean> {
  const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
  const addresses = isIP(host) === 0 ? await addressesOf(host) : [host];
  return addresses.some((address) => isLoopback(address) || own.includes(address));
}

async function addressesOf(name: string): Promise<string[]> {
  try {
    return (await lookup(name, { all: true })).map(({ address }) => address);
  } catch {
    return [];
  }
}

function isLoopback(address: string): boolean {
  return address.startsWith("127.") || address === "::1";
}

import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { isIPv6 } from "node:net";
import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";

/** A node's interfaces, as Node lists them. */
type Interfaces = Readonly<Record<string, readonly Pick<NetworkInterfaceInfo, "address" | "internal">[] | undefined>>;

/** Any port will do: nothing is sent there. */
const discardPort = 9;

/**
 * The network interface by which this node reaches the hosts of other tasks: that of its own name or, where the name resolves to
 * loopback, as in Debian's /etc/hosts, the one from which the first other host is reached. Undefined where all tasks are on one node,
 * where loopback serves, and where it cannot be found out.
 */
export async function interfaceOfNode(own: string, hosts: readonly string[]): Promise<string | undefined> {
  const other = hosts.find((host) => host !== own);
  if (other === undefined) return undefined;
  try {
    const interfaces = networkInterfaces();
    const { address } = await lookup(own);
    return interfaceWith(address, interfaces) ?? interfaceWith(await localAddressTowards(other), interfaces);
  } catch {
    // A framework that finds its interface by itself must not fail because of this.
    return undefined;
  }
}

/** The interface that has an address, except loopback. */
export function interfaceWith(address: string, interfaces: Interfaces): string | undefined {
  const [name] =
    Object.entries(interfaces).find(([, infos]) => infos?.some((info) => info.address === address && !info.internal)) ??
    [];
  return name;
}

/** The address from which the system would send to a host. */
async function localAddressTowards(host: string): Promise<string> {
  const { address } = await lookup(host);
  const socket = createSocket(isIPv6(address) ? "udp6" : "udp4");
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.connect(discardPort, address, resolve);
    });
    return socket.address().address;
  } finally {
    socket.close();
  }
}

import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";

/** A TCP socket of this machine, or of this network namespace, whoever owns it. */
export interface TcpSocket {
  /** An IP address; `0.0.0.0` or `::` if the socket listens on all addresses. */
  readonly localAddress: string;
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly listens: boolean;
  /** The user who owns it; undefined: no process does, because it has been closed or not accepted yet. */
  readonly uid: number | undefined;
}

/** TCP_LISTEN (include/net/tcp_states.h). */
const LISTEN = "0A";
const ROOT = 0;
const NO_INODE = "0";

/** The sockets that the kernel lists now (proc(5), /proc/net/tcp). Every user may read the list. */
export async function tcpSockets(): Promise<TcpSocket[]> {
  return (await tcpTables()).flatMap(parseTcpTable);
}

async function tcpTables(): Promise<string[]> {
  // A kernel without IPv6 lacks the second file.
  return await Promise.all(["tcp", "tcp6"].map((name) => readFile(`/proc/net/${name}`, "utf8").catch(() => "")));
}

/** Whether the socket belongs to our user or to root, who can do everything anyway. */
export function isTrusted({ uid }: TcpSocket): boolean {
  return uid === process.getuid?.() || uid === ROOT;
}

/** Whether a process of our own user, or of root, listens on the port, at any address. */
export async function isOwnListener(port: number): Promise<boolean> {
  // An executor calls this for as long as its program runs, and a node may have thousands of sockets, so only matching lines are parsed.
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const listeners = new RegExp(`^ *\\d+: [0-9A-F]+:${hex} \\S+ ${LISTEN} .*`, "gm");
  const lines = (await tcpTables()).flatMap((table) => table.match(listeners) ?? []);
  return lines.flatMap(parseTcpTable).some(isTrusted);
}

/** The other end of a connection within this machine; undefined if the other end is elsewhere or already gone. */
export function otherEnd(socket: Socket, sockets: readonly TcpSocket[]): TcpSocket | undefined {
  const [local, remote] = [plainAddress(socket.localAddress ?? ""), plainAddress(socket.remoteAddress ?? "")];
  return sockets.find(
    (one) =>
      one.localAddress === remote &&
      one.localPort === socket.remotePort &&
      one.remoteAddress === local &&
      one.remotePort === socket.localPort,
  );
}

/** @param table the text of /proc/net/tcp or /proc/net/tcp6 */
export function parseTcpTable(table: string): TcpSocket[] {
  return table.split("\n").flatMap((line) => {
    const [, local = "", remote = "", state, , , , uid, , inode] = line.trim().split(/\s+/);
    const [localAddress, localPort] = parseEnd(local);
    const [remoteAddress, remotePort] = parseEnd(remote);
    if (localAddress === undefined || remoteAddress === undefined) return [];
    // For a socket without a process the kernel reports root, whoever owned it.
    const owner = inode === NO_INODE ? undefined : Number(uid);
    return [{ localAddress, localPort, remoteAddress, remotePort, listens: state === LISTEN, uid: owner }];
  });
}

/** `0100007F:1F90`: the address as 32-bit words in the machine's byte order, which is little-endian on every platform we run on. */
function parseEnd(text: string): [string | undefined, number] {
  const [hex = "", port = ""] = text.split(":");
  if (!/^([0-9A-F]{8}|[0-9A-F]{32})$/.test(hex) || port === "") return [undefined, 0];
  const bytes = Buffer.concat((hex.match(/.{8}/g) ?? []).map((word) => Buffer.from(word, "hex").reverse()));
  return [bytes.length === 4 ? bytes.join(".") : address6(bytes), Number.parseInt(port, 16)];
}

function address6(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, group) => bytes.readUInt16BE(2 * group).toString(16));
  // The URL parser writes each address in its shortest form.
  return plainAddress(new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1));
}

/** The address without the notation for an IPv4 address on an IPv6 socket. */
function plainAddress(address: string): string {
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address);
  if (mapped === null) return address.replace(/^::ffff:(?=\d+\.)/, "");
  const words = [mapped[1], mapped[2]].map((word) => Number.parseInt(word ?? "", 16));
  return words.flatMap((word) => [word >> 8, word & 255]).join(".");
}

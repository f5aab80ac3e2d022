import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { errorCode } from "../../src/hadoop/errors.ts";

/** State LISTEN in /proc/net/tcp (include/net/tcp_states.h). */
const listen = "0A";

/** The addresses at which processes listen for TCP, as /proc/net/tcp and tcp6 write them: `0100007F` is 127.0.0.1. */
export function listeningAddresses(pids: readonly number[]): string[] {
  return listeners(pids).map(([address]) => address);
}

/** The ports at which processes listen for TCP. */
export function listeningPorts(pids: readonly number[]): number[] {
  return listeners(pids).map(([, port]) => Number.parseInt(port, 16));
}

function listeners(pids: readonly number[]): (readonly [address: string, port: string])[] {
  const sockets = new Set(pids.flatMap(socketsOf));
  return ["tcp", "tcp6"].flatMap((protocol) =>
    readFileSync(`/proc/net/${protocol}`, "utf8")
      .split("\n")
      .slice(1)
      .map((row) => row.trim().split(/\s+/))
      .flatMap(([, local = "", , state, , , , , , inode = ""]) => {
        const [address = "", port = ""] = local.split(":");
        return state === listen && sockets.has(inode) ? [[address, port] as const] : [];
      }),
  );
}

/** The inodes of a process's sockets. The process may end, or close a descriptor, while it is looked at. */
function socketsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return whileThere(() => readdirSync(folder), []).flatMap((descriptor) => {
    const target = whileThere(() => readlinkSync(`${folder}/${descriptor}`), "");
    return /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? [];
  });
}

function whileThere<Value>(read: () => Value, gone: Value): Value {
  try {
    return read();
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes(String(errorCode(error)))) return gone;
    throw error;
  }
}

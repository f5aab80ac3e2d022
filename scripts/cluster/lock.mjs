import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, Problem } from "../problem.mjs";

/**
 * Runs `work` while no other process of this machine holds the lock of that name.
 *
 * The lock is a socket in Linux' abstract namespace: only one process can listen on a name, and the kernel releases it
 * when the holder ends, however it ends, so that there are no stale lock files.
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} work
 * @param {{ waitMs?: number, onWait?: () => void }} [options] `onWait` is called once if another process holds it
 * @returns {Promise<T>}
 */
export async function withLock(name, work, { waitMs = 600_000, onWait } = {}) {
  const address = `\0tony-ts-${createHash("sha256").update(name).digest("hex").slice(0, 32)}`;
  const giveUpAt = performance.now() + waitMs;
  let holder = await tryListen(address);
  if (holder === undefined) onWait?.();
  while (holder === undefined) {
    if (performance.now() > giveUpAt)
      throw new Problem(`Another process has held the lock "${name}" for ${waitMs / 1000} s.`);
    await sleep(100);
    holder = await tryListen(address);
  }
  try {
    return await work();
  } finally {
    holder.close();
    await once(holder, "close");
  }
}

/** @param {string} address @returns {Promise<import("node:net").Server | undefined>} undefined while another process listens there */
function tryListen(address) {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.on("error", (error) => (codeOf(error) === "EADDRINUSE" ? resolve(undefined) : reject(error)));
    server.listen(address, () => resolve(server));
  });
}

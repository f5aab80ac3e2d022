import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { withLock } from "./cluster/lock.mjs";

/**
 * Fills a folder that never changes afterwards, unless it exists: it appears complete, by a rename, and only one process of this
 * machine fills it.
 * @param {string} folder its name identifies its content, versions included
 * @param {(draft: string) => Promise<void>} fill creates that folder with its content; it is renamed later
 * @returns {Promise<boolean>} whether this call filled it
 */
export async function provideFolder(folder, fill) {
  if (existsSync(folder)) return false;
  await mkdir(dirname(folder), { recursive: true });
  const whole = async () => {
    if (existsSync(folder)) return false;
    const draft = `${folder}.${process.pid}.partial`;
    try {
      await fill(draft);
      await rename(draft, folder);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
    return true;
  };
  // There is no limit: the other process is at work as long as it holds the lock, which ends with its holder.
  return await withLock(`fill ${folder}`, whole, { waitMs: Number.POSITIVE_INFINITY });
}

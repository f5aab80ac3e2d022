import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { withLock } from "./cluster/lock.mjs";

/**
 * Fills a folder that never changes afterwards, unless it is there: it appears by a rename, whole or not at all, and only one process
 * of this machine fills it.
 * @param {string} folder its name says what is in it, versions included
 * @param {(draft: string) => Promise<void>} fill makes that folder with its content; the folder is renamed later
 * @returns {Promise<boolean>} whether it was filled now
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
  // However long the other takes, it is at work: a lock ends with its holder.
  return await withLock(`fill ${folder}`, whole, { waitMs: Number.POSITIVE_INFINITY });
}

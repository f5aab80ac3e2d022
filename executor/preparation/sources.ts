import { constants } from "node:fs";
import { chmod, copyFile, lstat, mkdir, readdir, readlink, rename, rm, stat, symlink } from "node:fs/promises";
import path from "node:path";
import { errorCode } from "../../src/hadoop/errors.ts";
import { SOURCE_NAME, UNPACKED_SOURCE_NAME } from "../../src/job/launch/container-names.ts";
import { unpackTar } from "./unpack-tar.ts";

/**
 * Puts the content of `--src_dir` into the working directory itself, where the program expects it (TonY's TaskExecutor unpacks it there).
 * A folder was packed by the client and is unpacked here: a NodeManager would set the permissions of its files one by one, which without
 * Hadoop's native library starts a process for each (org.apache.hadoop.fs.RawLocalFileSystem#setPermission). An archive of the user's own
 * was unpacked by the NodeManager and is copied, because containers share it, and a program may write beside its code. Existing files,
 * such as those of `tony.containers.resources`, are not replaced.
 * @returns what was left out because of that, relative to the working directory
 */
export async function layOutSources(workingDirectory: string): Promise<readonly string[]> {
  const leftOut: string[] = [];
  const source = path.join(workingDirectory, SOURCE_NAME);
  // A job without sources has nothing there.
  const found = await stat(source).catch(unlessCode("ENOENT", undefined));
  if (found?.isDirectory() === true) await copyFolder(source, workingDirectory, leftOut);
  else if (found !== undefined) await unpack(source, workingDirectory, leftOut);
  return leftOut.map((file) => path.relative(workingDirectory, file));
}

async function unpack(archive: string, workingDirectory: string, leftOut: string[]): Promise<void> {
  const unpacked = path.join(workingDirectory, UNPACKED_SOURCE_NAME);
  await mkdir(unpacked);
  await unpackTar(archive, unpacked);
  await moveFolder(unpacked, workingDirectory, leftOut);
  await rm(unpacked, { recursive: true });
}

async function moveFolder(source: string, target: string, leftOut: string[]): Promise<void> {
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const from = path.join(source, entry.name);
    const to = path.join(target, entry.name);
    const there = await lstat(to).catch(unlessCode("ENOENT", undefined));
    if (there === undefined) await rename(from, to);
    else if (there.isDirectory() && entry.isDirectory()) await moveFolder(from, to, leftOut);
    else leftOut.push(to);
  }
}

async function copyFolder(source: string, target: string, leftOut: string[]): Promise<void> {
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const from = path.join(source, entry.name);
    const to = path.join(target, entry.name);
    if (!entry.isDirectory()) {
      if (!(await copyEntry(from, to, entry.isSymbolicLink()))) leftOut.push(to);
    } else if (await hasFolder(to)) {
      await copyFolder(from, to, leftOut);
    } else {
      leftOut.push(to);
    }
  }
}

/** Makes the folder; false when the name is taken by something else, such as a link to an archive that containers share. */
async function hasFolder(folder: string): Promise<boolean> {
  await mkdir(folder).catch(unlessCode("EEXIST", undefined));
  return (await lstat(folder)).isDirectory();
}

/** False when the name is taken. */
async function copyEntry(from: string, to: string, isLink: boolean): Promise<boolean> {
  try {
    if (isLink) {
      await symlink(await readlink(from), to);
    } else {
      await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      // A NodeManager makes what it unpacks read-only.
      await chmod(to, (await lstat(from)).mode | 0o200);
    }
    return true;
  } catch (error) {
    return unlessCode("EEXIST", false)(error);
  }
}

function unlessCode<Instead>(code: string, instead: Instead): (error: unknown) => Instead {
  return (error) => {
    if (errorCode(error) === code) return instead;
    throw error;
  };
}

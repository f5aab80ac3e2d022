import { hasCode } from "./errors.ts";

/** What is found; undefined where the file or folder is not there. Rejects with any other error. */
export async function ifThere<Found>(found: Promise<Found>): Promise<Found | undefined> {
  try {
    return await found;
  } catch (error) {
    if (hasCode(error, "FILE_NOT_FOUND")) return undefined;
    throw error;
  }
}

/** What a folder holds; nothing where it is not there. */
export async function listIfThere<Entry>(
  fileSystem: { list(path: string): Promise<readonly Entry[]> },
  folder: string,
): Promise<readonly Entry[]> {
  return (await ifThere(fileSystem.list(folder))) ?? [];
}

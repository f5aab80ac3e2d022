import { hasCode } from "./errors.ts";

/** The result; undefined if the file or directory does not exist. Rejects with any other error. */
export async function ifThere<Found>(found: Promise<Found>): Promise<Found | undefined> {
  try {
    return await found;
  } catch (error) {
    if (hasCode(error, "FILE_NOT_FOUND")) return undefined;
    throw error;
  }
}

/** A directory's entries; none if it does not exist. */
export async function listIfThere<Entry>(
  fileSystem: { list(path: string): Promise<readonly Entry[]> },
  folder: string,
): Promise<readonly Entry[]> {
  return (await ifThere(fileSystem.list(folder))) ?? [];
}

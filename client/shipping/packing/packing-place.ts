import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { UserError } from "../../../src/errors.ts";
import { errorCode, errorMessage } from "../../../src/hadoop/errors.ts";

/** A new folder for packing. @throws UserError naming TMPDIR where none can be made */
export async function packingPlace(parent: string = tmpdir()): Promise<string> {
  return mkdtemp(path.join(parent, "tony-ts-")).catch((cause: unknown) => {
    throw new UserError(
      `no folder can be made in ${parent}, where what is sent is packed first (${errorMessage(cause)}): ${mend}`,
      { code: "NO_TEMPORARY_FOLDER", cause },
    );
  });
}

const mend = "set TMPDIR to a folder with room for it";

/** The error of packing into that archive, with the disk and TMPDIR named where the disk was full. */
export function packingFault(error: unknown, archive: string): unknown {
  if (errorCode(error) !== "ENOSPC" && errorCode(error) !== "EDQUOT") return error;
  const place = path.dirname(archive);
  return new UserError(`the disk of ${place}, where what is sent is packed first, is full: free some, or ${mend}`, {
    code: "DISK_FULL",
    cause: error,
  });
}

import { createHash } from "node:crypto";
import path from "node:path";
import { CACHE_ENDING } from "../job/launch/container-names.ts";
import { localCacheFolder } from "../local-cache.ts";

/**
 * Variable of a program's environment: a folder to which the program writes at exit what V8 has compiled of it, as `am.cjs.cache` for
 * `am.cjs`.
 */
export const cacheFolderVariable = "TONY_CODE_CACHE_FOLDER";

/** Where a program looks for its compiled code, and the name under which it is shipped: beside the program. */
export function codeCacheOf(program: string): string {
  return program + CACHE_ENDING;
}

/** A file in the user's own folder, for the code that these values identify. */
export function ownCacheFile(folder: string, ...identity: readonly string[]): string {
  const hash = createHash("sha256").update(identity.join("\n")).digest("hex");
  return path.join(folder, "code", `${hash.slice(0, 32)}.cache`);
}

/** The cache for the program that a person starts: one for each command, because each runs other parts of it. None for a user without a home. */
export function clientCacheFile(
  environment: Readonly<Record<string, string | undefined>>,
  codeSha256: string,
  command = "",
): string | undefined {
  const { version, arch } = process;
  const verb = /^[a-z]+$/.test(command) ? command : "";
  try {
    return ownCacheFile(localCacheFolder(environment), codeSha256, version, arch, verb);
  } catch {
    // HOME is not set, and the system knows no home (os.homedir).
    return undefined;
  }
}

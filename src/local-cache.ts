import { homedir } from "node:os";
import path from "node:path";

/** `${XDG_CACHE_HOME:-~/.cache}/tony-ts` */
export function localCacheFolder(environment: Readonly<Record<string, string | undefined>>): string {
  const base = environment.XDG_CACHE_HOME;
  return path.join(base !== undefined && path.isAbsolute(base) ? base : path.join(homedir(), ".cache"), "tony-ts");
}

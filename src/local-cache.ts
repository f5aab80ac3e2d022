import path from "node:path";
import { ownerHome } from "./hadoop/process-owner.ts";

/** `${XDG_CACHE_HOME:-~/.cache}/tony-ts` */
export function localCacheFolder(environment: Readonly<Record<string, string | undefined>>): string {
  const base = environment.XDG_CACHE_HOME;
  return path.join(base !== undefined && path.isAbsolute(base) ? base : path.join(ownerHome(), ".cache"), "tony-ts");
}

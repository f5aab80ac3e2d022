import path from "node:path";
import type { FileToShip } from "../../src/job/spec.ts";

/**
 * Where a PEX that the job ships unpacks itself: in the application's own folder of the node, once for all its containers there. By itself
 * it takes ~/.cache/pex, and for want of a home that containers may write to (yarn.nodemanager.user-home-dir) a new folder each time.
 */
export function pexVariables(
  environment: Readonly<Record<string, string | undefined>>,
  shipped: readonly FileToShip[],
): Record<string, string> {
  const [folder] = environment.LOCAL_DIRS?.split(",") ?? [];
  if (!folder || environment.PEX_ROOT !== undefined || !shipped.some(({ name }) => /\.pex$/i.test(name))) return {};
  return { PEX_ROOT: path.join(folder, "pex") };
}

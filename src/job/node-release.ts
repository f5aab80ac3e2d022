import { UserError } from "../errors.ts";

/** What our programs are built for (package.json's `engines`). */
const oldest = { major: 20, minor: 19 } as const;
export const oldestNode = `${oldest.major}.${oldest.minor}`;

/**
 * Whether our programs can run on that Node.
 * @param version as in `process.version`: `v20.19.0`
 */
export function isSupportedNode(version: string): boolean {
  const [, major, minor] = /^v(\d+)\.(\d+)\./.exec(version) ?? [];
  return Number(major) > oldest.major || (Number(major) === oldest.major && Number(minor) >= oldest.minor);
}

/** For programs in containers, where a key selects the Node. @throws UserError with code `NODE_TOO_OLD` */
export function requireSupportedNode(version: string): void {
  if (isSupportedNode(version)) return;
  throw new UserError(`Node ${version} is too old for tony-ts: set tony.node.binary to ${oldestNode} or newer`, {
    code: "NODE_TOO_OLD",
  });
}

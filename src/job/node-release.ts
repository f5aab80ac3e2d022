/** What our programs are built for (package.json's `engines`). */
const oldest = { major: 20, minor: 19 } as const;
export const oldestNode = `${oldest.major}.${oldest.minor}`;

/**
 * Why our programs cannot run on that Node; undefined when they can.
 * @param version as `process.version` has it: `v20.19.0`
 */
export function nodeProblem(version: string): string | undefined {
  const [, major, minor] = /^v(\d+)\.(\d+)\./.exec(version) ?? [];
  const isNewEnough = Number(major) > oldest.major || (Number(major) === oldest.major && Number(minor) >= oldest.minor);
  if (isNewEnough) return undefined;
  return `Node ${version} is too old for tony-ts: set tony.node.binary to ${oldestNode} or newer`;
}

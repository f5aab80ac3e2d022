import { execFile } from "node:child_process";
import { promisify } from "node:util";

const limitMs = 5_000;

/**
 * The user's groups on this node, which is how Hadoop finds them by default (org.apache.hadoop.security.ShellBasedUnixGroupsMapping); none
 * for a user that the node does not know.
 */
export async function groupsOf(user: string): Promise<readonly string[]> {
  try {
    const { stdout } = await promisify(execFile)("id", ["-Gn", "--", user], { timeout: limitMs });
    return stdout.trim().split(/\s+/);
  } catch {
    return [];
  }
}

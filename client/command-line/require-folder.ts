import { ExitCode } from "../../src/errors.ts";
import { errorCode } from "../../src/hadoop/errors.ts";

const GONE =
  "the current folder no longer exists: it was removed or recreated since you entered it; change to another one (cd)";

/** Why the process has no current folder; undefined where it has one. */
export function folderTrouble(currentFolder: () => string): string | undefined {
  try {
    currentFolder();
    return undefined;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return GONE;
    throw error;
  }
}

// Checked as early as Node's release: the client's dependencies ask for the current folder while they load, and fail.
const trouble = folderTrouble(process.cwd);
if (trouble !== undefined) {
  process.stderr.write(`tony-ts: ${trouble}\n`);
  process.exit(ExitCode.usage);
}

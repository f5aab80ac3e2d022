import { ExitCode } from "../../src/errors.ts";
import { isSupportedNode, oldestNode } from "../../src/job/node-release.ts";

// Imported before everything else in the client: on an old Node its dependencies may fail with a message that helps nobody.
if (!isSupportedNode(process.version)) {
  process.stderr.write(`tony-ts: ${process.execPath} is Node ${process.version}; ${oldestNode} or newer is needed\n`);
  process.exit(ExitCode.usage);
}

import { ExitCode } from "../../src/errors.ts";
import { isSupportedNode, oldestNode } from "../../src/job/node-release.ts";

// Imported before everything else of the client: what it is built from may fail on an old Node in words that help nobody.
if (!isSupportedNode(process.version)) {
  process.stderr.write(`tony-ts: ${process.execPath} is Node ${process.version}; ${oldestNode} or newer is needed\n`);
  process.exit(ExitCode.usage);
}

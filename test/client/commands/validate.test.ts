import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { parseArguments } from "../../../client/command-line/arguments.ts";
import { commands } from "../../../client/commands/commands.ts";
import { recordedContext } from "../support.ts";

test("without a file it names the one that lies there", async () => {
  const workingDirectory = mkdtempSync(join(tmpdir(), "validate-"));
  try {
    writeFileSync(join(workingDirectory, "job.xml"), "<configuration/>");
    const parsed = await parseArguments(["validate"], commands);
    if (!("run" in parsed)) throw new Error("nothing to run");
    await expect(parsed.run(recordedContext({ workingDirectory }))).rejects.toThrow(
      "Which job? Give the file: tony-ts validate job.xml",
    );
  } finally {
    rmSync(workingDirectory, { recursive: true });
  }
});

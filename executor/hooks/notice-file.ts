import { renameSync, writeFileSync } from "node:fs";
import type { Notice } from "../../src/job/execution.ts";

/**
 * Writes what the file named by TONY_NOTICE_FILE says of the latest notice: `{"cause": "decommissioning", "deadlineMs": 1795305600000}`,
 * without `deadlineMs` where nobody says when the program is stopped. Whoever reads it finds a whole one.
 */
export function writeNotice(file: string, { cause, endsAtMs }: Notice): void {
  const unfinished = `${file}.tmp`;
  writeFileSync(unfinished, `${JSON.stringify({ cause, deadlineMs: endsAtMs })}\n`);
  renameSync(unfinished, file);
}

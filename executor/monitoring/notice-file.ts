import type { Notice } from "../../src/job/execution.ts";
import { replaceFile } from "../../src/replace-file.ts";

/**
 * Writes what the file named by TONY_NOTICE_FILE says of the latest notice: `{"cause": "decommissioning", "deadlineMs": 1795305600000}`,
 * without `deadlineMs` where nobody says when the program is stopped. Whoever reads it finds a whole one.
 */
export function writeNotice(file: string, { cause, endsAtMs }: Notice): void {
  replaceFile(file, `${JSON.stringify({ cause, deadlineMs: endsAtMs })}\n`);
}

import { FileSystemError } from "./errors.ts";
import { isLostAnswer } from "./failover.ts";
import type { WebHdfsRequest } from "./webhdfs-connection.ts";

/** How often an operation whose answer was lost, and which turned out not to have taken place, is sent again. */
const lostAnswerRepeats = 3;

/** Runs an operation that must not take place twice: when its answer is lost, `look` tells the result, or undefined to repeat. */
export async function lookFirst<T>(attempt: () => Promise<T>, look: () => Promise<T | undefined>): Promise<T> {
  for (let repeats = 0; ; repeats += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!isLostAnswer(error)) throw error;
      const result = await look();
      if (result !== undefined) return result;
      if (repeats === lostAnswerRepeats) throw error;
    }
  }
}

/** Looking did not tell whether it took place. */
export function outcomeUnknown({ operation, path }: WebHdfsRequest, seen: string): FileSystemError {
  return new FileSystemError(
    `${operation} ${path}: the answer was lost, and ${seen}: look at the file before trying again`,
    { code: "OUTCOME_UNKNOWN", operation, path },
  );
}

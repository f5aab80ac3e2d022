import { errorMessage } from "../../src/hadoop/errors.ts";

export interface StoredReading {
  /** Whether asking again can help. */
  readonly mayPass: (error: unknown) => boolean;
  /** Called before each wait, with the reason. */
  readonly waits: (reason: string) => void;
  readonly pause: (delayMs: number) => Promise<void>;
}

const readAgainMs = 3_000;

/**
 * Reads what is stored for this attempt, again and again while the file system is away.
 * @throws what `read` throws, when asking again cannot help
 */
export async function readUntilAnswered<Result>(
  read: () => Promise<Result>,
  { mayPass, waits, pause }: StoredReading,
): Promise<Result> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!mayPass(error)) throw error;
      waits(errorMessage(error));
      await pause(readAgainMs);
    }
  }
}

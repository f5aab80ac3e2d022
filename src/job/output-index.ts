/**
 * When how much of a program's output was written. It allows to merge stdout and stderr, which are two files, in their order, and to tell
 * the generations of a container apart. The index is a file beside them, with one line for each mark.
 */

/** The file's name; it sorts before `stderr` and `stdout`, so that aggregated logs have it first. */
export const OUTPUT_INDEX = "output.index";

/** By that time so many bytes had been written by this generation and those before it. */
export interface OutputMark {
  readonly atMs: number;
  readonly generation: number;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
}

export function formatMark({ atMs, generation, stdoutBytes, stderrBytes }: OutputMark): string {
  return `${atMs} ${generation} ${stdoutBytes} ${stderrBytes}\n`;
}

/** A line that was cut, because its writer was killed, is left out. */
export function parseMarks(text: string): OutputMark[] {
  return [...text.matchAll(/^(\d+) (\d+) (\d+) (\d+)\n/gm)].map(([, ...numbers]) => {
    const [atMs = 0, generation = 0, stdoutBytes = 0, stderrBytes = 0] = numbers.map(Number);
    return { atMs, generation, stdoutBytes, stderrBytes };
  });
}

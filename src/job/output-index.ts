/**
 * Records when which part of a program's output was written. With it, stdout and stderr, which are two files, can be merged in order, and
 * the generations of a container separated. The index is a file next to them, with one line per mark.
 */

/** The file's name; it sorts before `stderr` and `stdout`, so that it comes first in aggregated logs. */
export const OUTPUT_INDEX = "output.index";

/** The number of bytes that this generation and those before it had written by that time. */
export interface OutputMark {
  readonly atMs: number;
  readonly generation: number;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
}

export function formatMark({ atMs, generation, stdoutBytes, stderrBytes }: OutputMark): string {
  return `${atMs} ${generation} ${stdoutBytes} ${stderrBytes}\n`;
}

/** Ignores a line that is incomplete because its writer was killed. */
export function parseMarks(text: string): OutputMark[] {
  return [...text.matchAll(/^(\d+) (\d+) (\d+) (\d+)\n/gm)].map(([, ...numbers]) => {
    const [atMs = 0, generation = 0, stdoutBytes = 0, stderrBytes = 0] = numbers.map(Number);
    return { atMs, generation, stdoutBytes, stderrBytes };
  });
}

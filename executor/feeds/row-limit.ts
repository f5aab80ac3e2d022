import { TonyError } from "../../src/errors.ts";

/** A program keeps a whole row in memory. */
export const MOST_ROW_BYTES = 64 << 20;

const NEWLINE = 10;

/** The same bytes, as long as no line is much longer than the limit. */
export async function* boundedLines(
  source: AsyncIterable<Buffer>,
  file: string,
  mostBytes = MOST_ROW_BYTES,
): AsyncGenerator<Buffer, void> {
  let length = 0;
  for await (const chunk of source) {
    const newline = chunk.lastIndexOf(NEWLINE);
    length = newline < 0 ? length + chunk.length : chunk.length - newline - 1;
    if (length > mostBytes) {
      const message = `${file} has a line of more than ${mostBytes} bytes: are its rows lines?`;
      throw new TonyError(message, { code: "FEED_ROW_TOO_LONG" });
    }
    yield chunk;
  }
}

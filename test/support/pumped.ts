const textLength = 64 * 1024;

/**
 * Long texts by which a pattern with two ways to match the same characters takes a time that grows with the square of their length: of each
 * two of `pieces` in turns, and one after the other. What reads one in linear time needs a millisecond, what does not needs half a minute.
 */
export function* pumped(pieces: readonly string[]): Generator<string> {
  for (const one of pieces) {
    for (const other of pieces) {
      yield `${repeated(one + other, textLength)}!`;
      yield `${repeated(one, textLength / 2)}${repeated(other, textLength / 2)}!`;
      yield `${one}${repeated(other, textLength)}!"`;
    }
  }
}

function repeated(piece: string, length: number): string {
  return piece.repeat(Math.ceil(length / piece.length));
}

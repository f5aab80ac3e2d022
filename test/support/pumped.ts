const textLength = 128 * 1024;
/** A thousand times what reading one of the texts takes on an idle machine. */
const hangsAfterMs = 5_000;

/**
 * Long texts by which a pattern with two ways to match the same characters takes a time that grows with the square of their length: of each
 * two of `pieces` in turns, and one after the other. What reads one in linear time needs a millisecond, what does not needs minutes.
 * @throws when the reader of the text before hung
 */
export function* pumped(pieces: readonly string[]): Generator<string> {
  for (const one of pieces) {
    for (const other of pieces) {
      yield* unlessItHangs(`${repeated(one + other, textLength)}!`);
      yield* unlessItHangs(`${repeated(one, textLength / 2)}${repeated(other, textLength / 2)}!`);
      yield* unlessItHangs(`${one}${repeated(other, textLength)}!"`);
    }
  }
}

function* unlessItHangs(text: string): Generator<string> {
  const startedAtMs = performance.now();
  yield text;
  const tookMs = performance.now() - startedAtMs;
  if (tookMs > hangsAfterMs)
    throw new Error(`${tookMs} ms for a text that begins with ${JSON.stringify(text.slice(0, 60))}`);
}

function repeated(piece: string, length: number): string {
  return piece.repeat(Math.ceil(length / piece.length));
}

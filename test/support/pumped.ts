const textLength = 128 * 1024;
/** A thousand times as long as reading one of the texts takes on an idle machine. */
const hangsAfterMs = 5_000;

/**
 * Long texts on which a pattern with two ways to match the same characters takes a time that grows with the square of their length: for
 * each two of `pieces`, both in turns, and one after the other. A reader with linear time needs a millisecond for one; another needs
 * minutes.
 * @throws when the reader of the previous text took too long
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

/** Numbers from 0, inclusive, to 1, exclusive. */
export type RandomNumbers = () => number;

/**
 * The same numbers for the same seed and names, whatever was drawn elsewhere: a trial's parameters depend on its number, not on the order
 * in which others end. FNV-1a computes the initial state of sfc32 (Chris Doty-Humphrey's PractRand).
 */
export function randomNumbers(seed: number, ...names: readonly (string | number)[]): RandomNumbers {
  const text = [seed, ...names].join("\u0000");
  let [a, b, c, counter] = [hash(text, 1), hash(text, 2), hash(text, 3), 1];
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  for (let round = 0; round < 12; round += 1) next();
  // 53 bits, the precision of a number.
  return () => ((next() >>> 5) * 67_108_864 + (next() >>> 6)) / 9_007_199_254_740_992;
}

function hash(text: string, basis: number): number {
  let value = 2_166_136_261 ^ Math.imul(basis, 0x9e3779b1);
  for (let index = 0; index < text.length; index += 1) value = Math.imul(value ^ text.charCodeAt(index), 16_777_619);
  return value | 0;
}

/**
 * The candidate that a misspelt word most likely meant, or undefined when none is close. A candidate is close when, ignoring whole
 * dot-separated parts that both share at either end, it needs at most one edit per four letters and starts with the same letter, in upper
 * or lower case; or when it continues the word. An edit adds, removes or replaces a letter, or swaps two neighbours (optimal string
 * alignment distance).
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const distance = distanceOf(word, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Fewer letters are the beginning of too many words. */
const LEAST_BEGINNING = 3;

/** The number of edits between the parts that differ; infinite when there are too many for a misspelling. */
function distanceOf(word: string, candidate: string): number {
  const [typed, meant] = differingParts(word.toLowerCase().split("."), candidate.toLowerCase().split("."));
  const most = Math.max(1, Math.floor(typed.length / 4));
  if (Math.abs(typed.length - meant.length) <= most && beginAlike(typed, meant)) {
    const distance = editDistance(typed, meant);
    if (distance <= most) return distance;
  }
  const goesOn = typed.length >= LEAST_BEGINNING && meant.startsWith(typed) && !meant.includes(".");
  return goesOn ? meant.length - typed.length : Number.POSITIVE_INFINITY;
}

function differingParts(word: readonly string[], candidate: readonly string[]): [string, string] {
  const shortest = Math.min(word.length, candidate.length);
  let front = 0;
  while (front < shortest && word[front] === candidate[front]) front += 1;
  let back = 0;
  while (back < shortest - front && word.at(-1 - back) === candidate.at(-1 - back)) back += 1;
  const middle = (parts: readonly string[]) => parts.slice(front, parts.length - back).join(".");
  return [middle(word), middle(candidate)];
}

/** The only frequent mistake with a first letter is swapping it: `cpus` does not mean `gpus`. */
function beginAlike(a: string, b: string): boolean {
  return a[0] === b[0] || (a[0] === b[1] && a[1] === b[0]);
}

function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const substitution = a[row - 1] === b[column - 1] ? 0 : 1;
      let distance = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + substitution);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        distance = Math.min(distance, at(beforeLast, column - 2) + 1);
      }
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}

const HALF_LOG_TWO_PI = 0.5 * Math.log(2 * Math.PI);
/** From here on the fraction is exact to the last digits, and the series slow. */
const FAR = 3;
/** Of an interval this narrow the density in its middle is the same for all of it. */
const NARROW = 1e-3;

/** The logarithm of the standard normal density. */
export function logDensity(z: number): number {
  return -0.5 * z * z - HALF_LOG_TWO_PI;
}

/** The logarithm of how likely a standard normal number lies between two; exact where both are far out on the same side, too. */
export function logMass(from: number, to: number): number {
  const width = to - from;
  if (width < NARROW) return logDensity(from + width / 2) + Math.log(width);
  // On the left side nothing is lost by taking one tail from the other.
  if (from > 0) return Math.log(lowerTail(-from) - lowerTail(-to));
  return Math.log(lowerTail(to) - lowerTail(from));
}

/** How likely a standard normal number is below this one. */
function lowerTail(z: number): number {
  return z > 0 ? 1 - 0.5 * complement(z / Math.SQRT2) : 0.5 * complement(-z / Math.SQRT2);
}

/** erfc of what is not negative: by the series of erf (DLMF 7.6.2), further out by the continued fraction (DLMF 7.9.2). */
function complement(x: number): number {
  const bell = Math.exp(-x * x);
  if (x < FAR) {
    let term = x;
    let sum = x;
    for (let n = 1; term > 1e-17 * sum; n += 1) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * bell * sum;
  }
  let fraction = x;
  for (let n = 40; n >= 1; n -= 1) fraction = x + n / 2 / fraction;
  return bell / (Math.sqrt(Math.PI) * fraction);
}

/** A normal number between two bounds, of which at least one is near to the middle. */
export function normalBetween(
  {
    mean,
    deviation,
    low,
    high,
  }: { readonly mean: number; readonly deviation: number; readonly low: number; readonly high: number },
  random: () => number,
): number {
  // Each is within with a chance of a third at least.
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const radius = Math.sqrt(-2 * Math.log(1 - random()));
    const value = mean + deviation * radius * Math.cos(2 * Math.PI * random());
    if (value >= low && value <= high) return value;
  }
  return Math.min(high, Math.max(low, mean));
}

import type { RandomNumbers } from "./random-numbers.ts";
import { edgesOf, nearestValue } from "./random-search.ts";
import type { ChoiceDomain, Domain, NumberDomain, Parameter, Parameters, ParameterValue } from "./space.ts";

const HALF_LOG_TWO_PI = 0.5 * Math.log(2 * Math.PI);
/** From here on the continued fraction is exact to the last digits, and the series is slow. */
const FAR = 3;
/** In an interval this narrow the density at the middle applies to all of it. */
const NARROW = 1e-3;

/** The logarithm of the standard normal density. */
function logDensity(z: number): number {
  return -0.5 * z * z - HALF_LOG_TWO_PI;
}

/** The logarithm of the probability that a standard normal number lies between two bounds; exact even where both are far out on the same side. */
export function logMass(from: number, to: number): number {
  const width = to - from;
  if (width < NARROW) return logDensity(from + width / 2) + Math.log(width);
  // On the left side, subtracting one tail from the other loses no precision.
  if (from > 0) return Math.log(lowerTail(-from) - lowerTail(-to));
  return Math.log(lowerTail(to) - lowerTail(from));
}

/** The probability that a standard normal number is below this one. */
function lowerTail(z: number): number {
  return z > 0 ? 1 - 0.5 * complement(z / Math.SQRT2) : 0.5 * complement(-z / Math.SQRT2);
}

/** erfc of a number that is not negative: by the series of erf (DLMF 7.6.2), further out by the continued fraction (DLMF 7.9.2). */
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

/** A normal random number between two bounds, at least one of which is near the mean. */
export function normalBetween(
  {
    mean,
    deviation,
    low,
    high,
  }: { readonly mean: number; readonly deviation: number; readonly low: number; readonly high: number },
  random: () => number,
): number {
  // Each attempt succeeds with a probability of at least a third.
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const radius = Math.sqrt(-2 * Math.log(1 - random()));
    const value = mean + deviation * radius * Math.cos(2 * Math.PI * random());
    if (value >= low && value <= high) return value;
  }
  return Math.min(high, Math.max(low, mean));
}

/** The newest trials, which count fully; of the older ones the oldest counts least. */
const FULL_WEIGHT = 25;

/**
 * The density of trials in a space: a kernel around each, and a broad one over the whole space. A kernel is a product over the
 * dimensions, so that combinations are kept (multivariate).
 */
export interface Density {
  /** One weight per kernel; they add up to 1. */
  readonly weights: readonly number[];
  readonly logWeights: readonly number[];
  readonly dimensions: readonly Dimension[];
}

/** One parameter's factor in every kernel. */
interface Dimension {
  readonly name: string;
  readonly draw: (kernel: number, random: RandomNumbers) => ParameterValue;
  /** Adds the logarithm of each kernel's density at a value. */
  readonly add: (value: ParameterValue | undefined, logs: number[]) => void;
}

/** The density of trials that all have these parameters, given oldest first. */
export function densityOf(parameters: readonly Parameter[], trials: readonly Parameters[]): Density {
  const counted = [...ageWeights(trials.length), 1];
  const sum = counted.reduce((total, weight) => total + weight, 0);
  const weights = counted.map((weight) => weight / sum);
  return {
    weights,
    logWeights: weights.map(Math.log),
    dimensions: parameters.map(({ name, domain }) => {
      const values = trials.flatMap((trial) => trial[name] ?? []);
      return { name, ...dimensionOf(domain, values) };
    }),
  };
}

/** From 1/n for the oldest to 1 for the newest 25. */
export function ageWeights(count: number): number[] {
  const older = count - FULL_WEIGHT;
  return Array.from({ length: count }, (_, index) => {
    if (index >= older) return 1;
    return older === 1 ? 1 / count : 1 / count + (index / (older - 1)) * (1 - 1 / count);
  });
}

/** Draws parameters from one kernel of a density. */
export function drawFrom({ weights, dimensions }: Density, random: RandomNumbers): Parameters {
  const kernel = indexOf(weights, random());
  return Object.fromEntries(dimensions.map(({ name, draw }) => [name, draw(kernel, random)]));
}

/** The logarithm of a density at a point. */
export function logDensityAt({ logWeights, dimensions }: Density, parameters: Parameters): number {
  const logs = [...logWeights];
  for (const { name, add } of dimensions) add(parameters[name], logs);
  const most = Math.max(...logs);
  if (most === Number.NEGATIVE_INFINITY) return most;
  return most + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - most), 0));
}

function dimensionOf(domain: Domain, values: readonly ParameterValue[]): Omit<Dimension, "name"> {
  return domain.kind === "choice" ? choiceDimension(domain, values) : numberDimension(domain, values.map(Number));
}

/** Each kernel prefers its trial's choice; the broad one prefers none. */
function choiceDimension({ choices }: ChoiceDomain, values: readonly ParameterValue[]): Omit<Dimension, "name"> {
  const prior = 1 / (values.length + 1);
  const sum = 1 + choices.length * prior;
  const shares = { own: (1 + prior) / sum, other: prior / sum, broad: 1 / choices.length };
  const shareIn = (kernel: number, choice: ParameterValue): keyof typeof shares => {
    return kernel >= values.length ? "broad" : values[kernel] === choice ? "own" : "other";
  };
  const logShares = { own: Math.log(shares.own), other: Math.log(shares.other), broad: Math.log(shares.broad) };
  return {
    draw: (kernel, random) => {
      const row = choices.map((choice) => shares[shareIn(kernel, choice)]);
      return choices[indexOf(row, random())] ?? choices[0];
    },
    add: (value, logs) => {
      const isChoice = value !== undefined && choices.includes(value);
      for (const [kernel, log] of logs.entries())
        logs[kernel] = isChoice ? log + logShares[shareIn(kernel, value)] : Number.NEGATIVE_INFINITY;
    },
  };
}

/** The kernels are truncated normal distributions; in a domain with steps each value gets the mass of the numbers nearest to it. */
function numberDimension(domain: NumberDomain, values: readonly number[]): Omit<Dimension, "name"> {
  const place = domain.log ? Math.log : (value: number) => value;
  const value = domain.log ? Math.exp : (at: number) => at;
  const half = (domain.step ?? 0) / 2;
  const edges = edgesOf(domain);
  const [low, high] = [place(edges.low), place(edges.high)];
  const kernels = kernelsOf(values.map(place), low, high);
  const { kinds: alike, kindOf } = half === 0 ? { kinds: kernels, kindOf: undefined } : kindsOf(kernels);
  const kinds = alike.map(({ mean, deviation }) => {
    const logWithin = logMass((low - mean) / deviation, (high - mean) / deviation);
    return { mean, deviation, logScale: half === 0 ? -Math.log(deviation) - logWithin : -logWithin };
  });
  return {
    draw: (index, random) => {
      const kernel = kernels[index];
      if (kernel === undefined) return domain.low;
      return nearestValue(domain, value(normalBetween({ ...kernel, low, high }, random)));
    },
    add: (given, logs) => {
      const [at, from, to] = [0, -half, half].map((offset) => place(Number(given) + offset));
      const added = kinds.map(({ mean, deviation, logScale }) => {
        const z = (bound = Number.NaN) => (bound - mean) / deviation;
        return logScale + (half === 0 ? logDensity(z(at)) : logMass(z(from), z(to)));
      });
      for (const [index, log] of logs.entries()) logs[index] = log + (added[kindOf?.[index] ?? index] ?? 0);
    },
  };
}

/** In a domain with steps many trials have the same kernel: returns each distinct kernel once, and its index for every trial. */
function kindsOf(kernels: readonly Kernel[]): {
  readonly kinds: readonly Kernel[];
  readonly kindOf: readonly number[];
} {
  const kinds: Kernel[] = [];
  const found = new Map<string, number>();
  const kindOf = kernels.map((kernel) => {
    const name = `${kernel.mean} ${kernel.deviation}`;
    const known = found.get(name);
    if (known !== undefined) return known;
    found.set(name, kinds.length);
    return kinds.push(kernel) - 1;
  });
  return { kinds, kindOf };
}

export interface Kernel {
  readonly mean: number;
  readonly deviation: number;
}

/**
 * A kernel around each number, as broad as the distance to its farther neighbour, and the broad one last. The bounds are the
 * neighbours of a single number; with several numbers the outermost ones have one neighbour. None is broader than the range, nor so
 * narrow that values in between would never be tried.
 */
export function kernelsOf(numbers: readonly number[], low: number, high: number): Kernel[] {
  const range = high - low;
  const least = range / Math.min(100, numbers.length + 2);
  const order = numbers.map((_, index) => index).sort((a, b) => (numbers[a] ?? 0) - (numbers[b] ?? 0));
  const alone = numbers.length === 1;
  const kernels: Kernel[] = [...numbers].map((mean) => ({ mean, deviation: range }));
  for (const [rank, index] of order.entries()) {
    const mean = numbers[index] ?? low;
    const before = numbers[order[rank - 1] ?? -1] ?? (alone ? low : mean);
    const after = numbers[order[rank + 1] ?? -1] ?? (alone ? high : mean);
    const deviation = Math.min(range, Math.max(least, mean - before, after - mean));
    kernels[index] = { mean, deviation };
  }
  return [...kernels, { mean: (low + high) / 2, deviation: range }];
}

/** The share of a whole that a number from 0 to 1 falls into. */
function indexOf(shares: readonly number[], quantile: number): number {
  let sum = 0;
  const found = shares.findIndex((share) => {
    sum += share;
    return quantile < sum;
  });
  return found === -1 ? shares.length - 1 : found;
}

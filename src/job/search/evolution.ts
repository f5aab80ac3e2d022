import type { RandomNumbers } from "./random-numbers.ts";
import { edgesOf, nearestValue, randomParameters } from "./random-search.ts";
import { type Domain, isActive, type Parameters, type ParameterValue, type Space, sizeOf, valueAt } from "./space.ts";
import { compareValues, type Direction, type Search, type Trial } from "./trials.ts";

/** How far a member moves along the difference of two others, and the probability of taking each parameter from there: Hops' values. */
const MUTATION = 0.5;
const CROSSOVER = 0.7;

/**
 * Differential evolution (Storn and Price 1997, DE/rand/1/bin): trials form generations of a population; a member of the next generation is
 * made from three others of the current one, and replaces its parent if it is better. Undefined while trials of earlier generations run.
 */
export function evolvedParameters(
  { space, direction, population }: Pick<Search, "space" | "direction" | "population">,
  trials: readonly Trial[],
  random: RandomNumbers,
): Parameters | undefined {
  const generation = Math.floor(trials.length / population);
  if (generation === 0) return randomParameters(space, random);
  const earlier = trials.slice(0, generation * population);
  if (earlier.some(({ state }) => state === "running")) return undefined;
  const parents = survivorsOf(direction, population, earlier);
  const own = trials.length % population;
  const [first, second, third] = shuffled(
    parents.filter((_, index) => index !== own),
    random,
  );
  const certain = Math.floor(random() * space.length);
  const chosen: Record<string, ParameterValue> = {};
  for (const [index, { name, domain }] of space.entries()) {
    const gene = (parent: Trial | undefined) =>
      parent?.params[name] ?? randomParameters([{ name, domain }], random)[name];
    const genes = [parents[own], first, second, third].map((parent) => placeOf(domain, gene(parent)));
    const [mine = 0, base = 0, plus = 0, minus = 0] = genes;
    // One parameter is always taken from the others: otherwise the member could equal its parent.
    const isTaken = random() <= CROSSOVER || index === certain;
    chosen[name] = valueNear(domain, isTaken ? base + MUTATION * (plus - minus) : mine);
  }
  return active(space, chosen);
}

/** The best of each member and its successors; of equal ones the earlier. A failed trial is worse than all others, whatever it had reported. */
function survivorsOf(direction: Direction, population: number, trials: readonly Trial[]): Trial[] {
  const survivors = trials.slice(0, population);
  for (const [index, trial] of trials.entries()) {
    const own = index % population;
    if (compareValues(direction, knownValue(trial), knownValue(survivors[own])) < 0) survivors[own] = trial;
  }
  return survivors;
}

function knownValue(trial: Trial | undefined): number | undefined {
  return trial?.state === "failed" ? undefined : trial?.value;
}

function shuffled<T>(items: readonly T[], random: RandomNumbers): T[] {
  const keyed = items.map((item) => ({ item, key: random() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}

/** The coordinate of a value: for a choice its index, for a logarithmic parameter its logarithm. */
function placeOf(domain: Domain, value: ParameterValue | undefined): number {
  if (domain.kind === "choice") return Math.max(0, domain.choices.indexOf(value ?? ""));
  return domain.log ? Math.log(Number(value)) : Number(value);
}

/** The value nearest to a coordinate, which may be out of range. */
function valueNear(domain: Domain, place: number): ParameterValue {
  if (domain.kind === "choice") {
    return valueAt(domain, Math.min(sizeOf(domain) - 1, Math.max(0, Math.round(place))));
  }
  const { low, high } = edgesOf(domain);
  const value = domain.log ? Math.exp(place) : place;
  return nearestValue(domain, Math.min(high, Math.max(low, value)));
}

function active(space: Space, given: Parameters): Parameters {
  const found: Record<string, ParameterValue> = {};
  for (const parameter of space) {
    const value = given[parameter.name];
    if (value !== undefined && isActive(parameter, found)) found[parameter.name] = value;
  }
  return found;
}

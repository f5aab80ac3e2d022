import { densityOf, drawFrom, logDensityAt } from "./parzen.ts";
import type { RandomNumbers } from "./random-numbers.ts";
import { randomParameters } from "./random-search.ts";
import { isActive, type Parameter, type Parameters, type ParameterValue, sizeOf } from "./space.ts";
import { compareValues, type Direction, type Search, type Trial } from "./trials.ts";

/** Parameters are drawn at random until this many trials have ended. */
const STARTUP = 10;
/** How many candidates are drawn from the density of good trials; the one is taken that is most typical of good trials. */
const CANDIDATES = 24;
const MOST_GOOD = 25;

/**
 * Tree-structured Parzen estimators as in Optuna 5: prefers parameters that are more frequent in the best tenth of trials than in the
 * others. A running trial counts among the others (constant liar), so that concurrent trials do not try the same.
 */
export function tpeParameters(search: Search, trials: readonly Trial[], random: RandomNumbers): Parameters {
  const known = trials.filter(({ state }) => state !== "failed");
  const ended = known.filter(({ state }) => state !== "running");
  if (ended.length < STARTUP) return randomParameters(search.space, random);
  const good = new Set(bestOf(search.direction, ended));
  const free = search.space.filter(({ domain }) => sizeOf(domain) > 1);
  const draw = (parameters: readonly Parameter[]): Parameters => {
    const having = known.filter(({ params }) => parameters.every(({ name }) => params[name] !== undefined));
    return likeliest(
      parameters,
      having.filter((trial) => good.has(trial)),
      having.filter((trial) => !good.has(trial)),
      random,
    );
  };
  const joint = draw(free.filter(({ when }) => when === undefined));
  const chosen: Record<string, ParameterValue> = {};
  for (const parameter of search.space) {
    const { name } = parameter;
    if (!isActive(parameter, chosen)) continue;
    // Few trials have a parameter that depends on others, so each such parameter is judged separately.
    const drawn =
      joint[name] ??
      (free.includes(parameter) ? draw([parameter]) : randomParameters([{ ...parameter, name }], random))[name];
    if (drawn !== undefined) chosen[name] = drawn;
  }
  return chosen;
}

/** The best tenth, at most 25: completed trials first, then stopped ones, the later the better. */
export function bestOf(direction: Direction, ended: readonly Trial[]): readonly Trial[] {
  const rank = ({ state }: Trial) => (state === "completed" ? 0 : 1);
  const steps = ({ state, step }: Trial) => (state === "completed" ? 0 : (step ?? Number.NEGATIVE_INFINITY));
  const sorted = [...ended].sort(
    (a, b) => rank(a) - rank(b) || compareSteps(steps(a), steps(b)) || compareValues(direction, a.value, b.value),
  );
  return sorted.slice(0, Math.min(Math.ceil(ended.length / 10), MOST_GOOD));
}

function compareSteps(a: number, b: number): number {
  return a === b ? 0 : b - a;
}

function likeliest(
  parameters: readonly Parameter[],
  good: readonly Trial[],
  others: readonly Trial[],
  random: RandomNumbers,
): Parameters {
  const paramsOf = (trials: readonly Trial[]) => trials.map(({ params }) => params);
  const [likely, unlikely] = [densityOf(parameters, paramsOf(good)), densityOf(parameters, paramsOf(others))];
  let best: Parameters = {};
  let most = Number.NEGATIVE_INFINITY;
  for (let candidate = 0; candidate < CANDIDATES; candidate += 1) {
    const drawn = drawFrom(likely, random);
    const gain = logDensityAt(likely, drawn) - logDensityAt(unlikely, drawn);
    if (gain > most || candidate === 0) [best, most] = [drawn, gain];
  }
  return best;
}

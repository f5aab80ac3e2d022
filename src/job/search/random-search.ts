import type { RandomNumbers } from "./random-numbers.ts";
import {
  type Described,
  type Domain,
  isActive,
  type NumberDomain,
  type Parameters,
  type ParameterValue,
  type Space,
  sizeOf,
  valueAt,
} from "./space.ts";

/** Random parameters with a uniform distribution; for a logarithmic parameter, uniform in its logarithm. */
export function randomParameters(space: Space, random: RandomNumbers): Parameters {
  const parameters: Record<string, ParameterValue> = {};
  for (const parameter of space) {
    if (isActive(parameter, parameters)) parameters[parameter.name] = randomValue(parameter.domain, random());
  }
  return parameters;
}

function randomValue(domain: Domain, quantile: number): ParameterValue {
  const size = sizeOf(domain);
  if (domain.kind === "choice" || size === 1) return valueAt(domain, Math.floor(quantile * size));
  if (!domain.log) {
    if (Number.isFinite(size)) return valueAt(domain, Math.floor(quantile * size));
    return within(domain, domain.low + quantile * (domain.high - domain.low));
  }
  const { low, high } = edgesOf(domain);
  return nearestValue(domain, Math.exp(Math.log(low) + quantile * (Math.log(high) - Math.log(low))));
}

/** In a domain with steps a value represents all numbers that are nearest to it. */
export function edgesOf({ low, high, step = 0 }: NumberDomain): { readonly low: number; readonly high: number } {
  return { low: low - step / 2, high: high + step / 2 };
}

/** The value of a domain that is nearest to a number. */
export function nearestValue(domain: NumberDomain, value: number): number {
  if (domain.step === undefined) return within(domain, value);
  return within(domain, Number(valueAt(domain, Math.round((value - domain.low) / domain.step))));
}

function within({ low, high }: NumberDomain, value: number): number {
  return Math.min(high, Math.max(low, value));
}

/** Parameters given as text, converted to the values that programs get. */
export function typedParameters(texts: Parameters, space: Space): Parameters {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => {
      const parameter = space.find((one) => one.name === name);
      return [name, (parameter && valueFrom(parameter, String(text))) ?? text];
    }),
  );
}

/** The value that a text represents; undefined for one that the parameter cannot have. */
export function valueFrom({ domain }: Described, text: string): ParameterValue | undefined {
  if (domain.kind === "choice") return domain.choices.find((choice) => String(choice) === text);
  const value = text.trim() === "" ? Number.NaN : Number(text);
  const fit = Math.abs(nearestValue(domain, value) - value) <= 1e-9 * (domain.step ?? 0);
  return value >= domain.low && value <= domain.high && fit ? value : undefined;
}

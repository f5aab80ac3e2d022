/** A trial's value of one parameter. */
export type ParameterValue = number | string;

/** The parameters of one trial, in the order of the space, without those whose condition does not hold. */
export type Parameters = Readonly<Record<string, ParameterValue>>;

/** Numbers from `low` to `high`, both included; `high` is a whole number of steps above `low`. */
export interface NumberDomain {
  readonly kind: "float" | "int";
  readonly low: number;
  readonly high: number;
  /** Whether the ratio of two values matters, rather than their difference. */
  readonly log: boolean;
  /** Absent for a float with any value in between. */
  readonly step?: number;
}

export interface ChoiceDomain {
  readonly kind: "choice";
  readonly choices: readonly [ParameterValue, ...ParameterValue[]];
}

export type Domain = NumberDomain | ChoiceDomain;

/** A parameter's condition: it exists only where the other one, a choice, has one of these values. */
export interface Condition {
  readonly parameter: string;
  readonly values: readonly string[];
}

/** A parameter as one key or line describes it. */
export interface Described {
  readonly domain: Domain;
  readonly when?: Condition;
}

export interface Parameter extends Described {
  readonly name: string;
}

/** Each parameter comes after the one that its condition refers to. */
export type Space = readonly Parameter[];

/** The environment variable with a parameter's value. */
export function variableOf(name: string): string {
  return `TONY_PARAM_${name.toUpperCase()}`;
}

/** A name that a program's variables and options can have. */
export function nameLike(name: string): string {
  return name.replace(/\W/g, "_").replace(/^(?=\d)/, "_");
}

/** Whether a parameter exists, given the values of those before it. */
export function isActive({ when }: Described, parameters: Parameters): boolean {
  if (when === undefined) return true;
  const value = parameters[when.parameter];
  return value !== undefined && when.values.includes(String(value));
}

/** The number of values; infinite for a float without a step. */
export function sizeOf(domain: Domain): number {
  if (domain.kind === "choice") return domain.choices.length;
  if (domain.low === domain.high) return 1;
  return domain.step === undefined ? Number.POSITIVE_INFINITY : stepsOf(domain.low, domain.high, domain.step) + 1;
}

/** The value at an index of a domain of finite size. */
export function valueAt(domain: Domain, index: number): ParameterValue {
  if (domain.kind === "choice") return domain.choices[index] ?? domain.choices[0];
  return domain.step === undefined ? domain.low : onStep(domain, index);
}

/** The value that many steps above the lowest, without the error of adding fractions: 0.3, not 0.30000000000000004. */
export function onStep({ low, step = 1 }: NumberDomain, index: number): number {
  return Number((low + index * step).toPrecision(15));
}

/** The number of steps from one value to another. */
export function stepsOf(low: number, high: number, step: number): number {
  return Math.round((high - low) / step);
}

/** Whether two sets of parameters have the same values for a space, whatever their order. */
export function areSame(space: Space, some: Parameters, others: Parameters): boolean {
  return space.every(({ name }) => some[name] === others[name]);
}

/** Equal for equal parameters: used as a key where many are looked up. */
export function identityOf(space: Space, parameters: Parameters): string {
  return JSON.stringify(space.map(({ name }) => parameters[name] ?? null));
}

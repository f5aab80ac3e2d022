/** What a trial is given for one parameter. */
export type ParameterValue = number | string;

/** The parameters of one trial, in the order of the space; those whose condition does not hold are not among them. */
export type Parameters = Readonly<Record<string, ParameterValue>>;

/** Numbers from `low` to `high`, both included: `high` is a whole number of steps above `low`. */
export interface NumberDomain {
  readonly kind: "float" | "int";
  readonly low: number;
  readonly high: number;
  /** Whether it is the ratio of two values that counts, not their difference. */
  readonly log: boolean;
  /** Absent of a float that may be anything between. */
  readonly step?: number;
}

export interface ChoiceDomain {
  readonly kind: "choice";
  readonly choices: readonly [ParameterValue, ...ParameterValue[]];
}

export type Domain = NumberDomain | ChoiceDomain;

/** What holds a parameter back: it is there only where the other one, a choice, has one of these values. */
export interface Condition {
  readonly parameter: string;
  readonly values: readonly string[];
}

/** What one key or line says of a parameter. */
export interface Described {
  readonly domain: Domain;
  readonly when?: Condition;
}

export interface Parameter extends Described {
  readonly name: string;
}

/** A parameter stands behind that of its condition. */
export type Space = readonly Parameter[];

/** The variable that a program finds a parameter's value in. */
export function variableOf(name: string): string {
  return `TONY_PARAM_${name.toUpperCase()}`;
}

/** A name that a program's variables and options can have. */
export function nameLike(name: string): string {
  return name.replace(/\W/g, "_").replace(/^(?=\d)/, "_");
}

/** Whether a parameter is there, by the values of those before it. */
export function isActive({ when }: Described, parameters: Parameters): boolean {
  if (when === undefined) return true;
  const value = parameters[when.parameter];
  return value !== undefined && when.values.includes(String(value));
}

/** How many values there are; infinite of a float without a step. */
export function sizeOf(domain: Domain): number {
  if (domain.kind === "choice") return domain.choices.length;
  if (domain.low === domain.high) return 1;
  return domain.step === undefined ? Number.POSITIVE_INFINITY : stepsOf(domain.low, domain.high, domain.step) + 1;
}

/** The value that stands at an index of a domain of a known size. */
export function valueAt(domain: Domain, index: number): ParameterValue {
  if (domain.kind === "choice") return domain.choices[index] ?? domain.choices[0];
  return domain.step === undefined ? domain.low : onStep(domain, index);
}

/** The value so many steps above the lowest, without what adding fractions leaves behind: 0.3, not 0.30000000000000004. */
export function onStep({ low, step = 1 }: NumberDomain, index: number): number {
  return Number((low + index * step).toPrecision(15));
}

/** How many steps there are from one value to another. */
export function stepsOf(low: number, high: number, step: number): number {
  return Math.round((high - low) / step);
}

/** Whether a space's parameters have the same values, in whatever order they stand. */
export function areSame(space: Space, some: Parameters, others: Parameters): boolean {
  return space.every(({ name }) => some[name] === others[name]);
}

/** The same for the same parameters: where many are looked up. */
export function identityOf(space: Space, parameters: Parameters): string {
  return JSON.stringify(space.map(({ name }) => parameters[name] ?? null));
}

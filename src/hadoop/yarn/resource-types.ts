import { HadoopError } from "../errors.ts";
import { entryOf } from "../json.ts";
import type { Resource, ResourceType } from "./records.ts";

/** Memory and cores have fields of their own in the messages. */
const builtIn: ReadonlySet<string> = new Set(["memory-mb", "vcores"]);

/**
 * A resource type that the ResourceManager does not know. It would silently drop the type and allocate containers without it, so the
 * request is refused here.
 */
export class UnknownResourceTypeError extends HadoopError {
  override readonly name = "UnknownResourceTypeError";
  readonly resourceType: string;

  constructor(resourceType: string, known: readonly string[]) {
    const others = known.length === 0 ? "it has none besides memory and cores" : `it has ${known.join(", ")}`;
    super(`The cluster has no resource type "${resourceType}": ${others}`, { code: "RESOURCE_TYPE_UNKNOWN" });
    this.resourceType = resourceType;
  }
}

/** The resource types of a cluster. */
export class ResourceTypes {
  readonly #units: ReadonlyMap<string, string>;

  constructor(types: readonly ResourceType[]) {
    this.#units = new Map(types.filter(({ name }) => !builtIn.has(name)).map(({ name, units }) => [name, units]));
  }

  /** Besides memory and cores. */
  get names(): readonly string[] {
    return [...this.#units.keys()];
  }

  /** Throws UnknownResourceTypeError. */
  unitsOf(name: string): string {
    const units = this.#units.get(name);
    if (units === undefined) throw new UnknownResourceTypeError(name, this.names);
    return units;
  }

  /** Throws UnknownResourceTypeError for the first type that the cluster lacks. */
  check(resource: Resource): void {
    for (const name of namedTypes(resource)) this.unitsOf(name);
  }
}

/** The types other than memory and cores of which a resource has a non-zero amount. */
export function namedTypes({ others }: Resource): readonly string[] {
  return Object.keys(others).filter((name) => others[name] !== 0);
}

/** Units that YARN knows, as exact fractions of the base unit (org.apache.hadoop.yarn.util.UnitsConversionUtil). */
const units: Readonly<Record<string, readonly [numerator: bigint, denominator: bigint]>> = {
  p: [1n, 1_000_000_000_000n],
  n: [1n, 1_000_000_000n],
  u: [1n, 1_000_000n],
  m: [1n, 1_000n],
  "": [1n, 1n],
  k: [1_000n, 1n],
  M: [1_000_000n, 1n],
  G: [1_000_000_000n, 1n],
  T: [1_000_000_000_000n, 1n],
  P: [1_000_000_000_000_000n, 1n],
  Ki: [1n << 10n, 1n],
  Mi: [1n << 20n, 1n],
  Gi: [1n << 30n, 1n],
  Ti: [1n << 40n, 1n],
  Pi: [1n << 50n, 1n],
};

/**
 * Converts a whole amount between units, as YARN does: a fraction is truncated towards zero.
 * Throws a HadoopError with code `UNIT_UNKNOWN` or `AMOUNT_TOO_LARGE`.
 */
export function convertUnits(fromUnit: string, toUnit: string, amount: number): number {
  const [fromNumerator, fromDenominator] = unitOf(fromUnit);
  const [toNumerator, toDenominator] = unitOf(toUnit);
  const converted = (BigInt(amount) * fromNumerator * toDenominator) / (fromDenominator * toNumerator);
  const result = Number(converted);
  if (Number.isSafeInteger(result)) return result;
  throw new HadoopError(`${amount}${fromUnit} is too large in units of "${toUnit}"`, { code: "AMOUNT_TOO_LARGE" });
}

/** Parses `2`, `10Gi`, `500m`. Throws a HadoopError with code `AMOUNT_MALFORMED` or `UNIT_UNKNOWN`. */
export function parseAmount(text: string): { readonly amount: number; readonly unit: string } {
  const match = /^\s*(\d+)\s*([A-Za-z]*)\s*$/.exec(text);
  const amount = Number(match?.[1]);
  const unit = match?.[2] ?? "";
  if (!Number.isSafeInteger(amount)) {
    throw new HadoopError(`"${text}" is not a whole amount with an optional unit`, { code: "AMOUNT_MALFORMED" });
  }
  unitOf(unit);
  return { amount, unit };
}

function unitOf(unit: string): readonly [bigint, bigint] {
  const fraction = entryOf(units, unit);
  if (fraction !== undefined) return fraction;
  const known = Object.keys(units).filter((name) => name !== "");
  throw new HadoopError(`"${unit}" is not a unit; YARN knows ${known.join(", ")}`, { code: "UNIT_UNKNOWN" });
}

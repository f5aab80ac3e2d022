import { HadoopError } from "../errors.ts";
import { entryOf } from "../json.ts";

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
 * Converts a whole amount between units, as YARN does: what does not come out even is cut off towards zero.
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

/** Reads `2`, `10Gi`, `500m`. Throws a HadoopError with code `AMOUNT_MALFORMED` or `UNIT_UNKNOWN`. */
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

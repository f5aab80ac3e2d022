import { cpus, loadavg, totalmem } from "node:os";
import { type Budget, type Figure, summarize, type Unit } from "./figures.ts";

export interface MeasurementResult {
  readonly name: string;
  readonly what: string;
  readonly figures: readonly Figure[];
  /** The machine's load when the measurement began; a figure taken beside other work says less. */
  readonly loadAverage: number;
  /** Why some runs gave nothing. */
  readonly failures: readonly string[];
}

/** One measurement for people: a line for each figure. */
export function describeResult({ name, what, figures, loadAverage, failures }: MeasurementResult): string {
  const lines = figures.map((figure) => `  ${figure.name.padEnd(58)} ${describeFigure(figure)}`);
  const lost = failures.map((failure) => `  ✗ ${failure}`);
  return [`${name}: ${what} (load ${loadAverage.toFixed(1)})`, ...lines, ...lost].join("\n");
}

/** All results, for programs. */
export function resultsJson(results: readonly MeasurementResult[], atMs: number): string {
  const machine = {
    cpus: cpus().length,
    cpuModel: cpus()[0]?.model ?? "unknown",
    memoryMiB: Math.round(totalmem() / 2 ** 20),
    node: process.version,
  };
  const measurements = results.map(({ figures, ...result }) => ({
    ...result,
    figures: figures.map((figure) => ({ ...figure, ...summarize(figure) })),
  }));
  return JSON.stringify({ benchVersion: 1, at: new Date(atMs).toISOString(), machine, measurements }, null, 2);
}

export function currentLoad(): number {
  return loadavg()[0] ?? 0;
}

function describeFigure(figure: Figure): string {
  const summary = summarize(figure);
  if (summary === undefined) return "not measured";
  const { median, min, max, met } = summary;
  const { unit, budget } = figure;
  const spread = `${formatValue(median, unit)} (${formatValue(min, unit)}, ${formatValue(max, unit)})`;
  if (budget === undefined) return spread;
  return `${spread.padEnd(34)} ${met === true ? "✓ met" : "✗ not met"}: ${describeBudget(budget, unit)}`;
}

function describeBudget({ limit, kind }: Budget, unit: Unit): string {
  return `${kind === "at most" ? "≤" : "≥"} ${formatValue(limit, unit)}`;
}

function formatValue(value: number, unit: Unit): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${Number(value.toFixed(digits))} ${unit}`;
}

import type { ClusterOf } from "./cluster.ts";
import type { FigureDefinition, Sample } from "./figures.ts";

/** Something that can be measured as often as is asked for. */
export interface Measurement {
  readonly name: string;
  readonly what: string;
  /** Runs that are not counted: what is measured first, with cold caches, says nothing about later runs. */
  readonly warmUps: number;
  /** The most runs, where further ones would only give the same, as with counts. */
  readonly mostRuns?: number;
  readonly figures: readonly FigureDefinition[];
  run(clusterOf: ClusterOf): Promise<Sample>;
}

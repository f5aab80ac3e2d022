import type { ClusterOf } from "./cluster.ts";
import type { FigureDefinition, Sample } from "./figures.ts";

/** Something that is measured, as often as is asked for. */
export interface Measurement {
  readonly name: string;
  readonly what: string;
  /** What is measured for the first time with cold caches says nothing about the second: runs that are not counted. */
  readonly warmUps: number;
  /** Of what more runs would say again, as of counts. */
  readonly mostRuns?: number;
  readonly figures: readonly FigureDefinition[];
  run(clusterOf: ClusterOf): Promise<Sample>;
}

/** A split that a task has, or had. */
export interface Lease {
  /** A split that is handed out again has another one. */
  readonly number: number;
  readonly epoch: number;
  /** Its place in the order of the epoch. */
  readonly position: number;
}

/** A split as its task is told of it: the bytes of a file from `start` on and before `end`. */
export interface GivenSplit {
  readonly lease: Lease;
  /** Its number in the plan. */
  readonly split: number;
  /** How many of its first records have been used already. */
  readonly skip: number;
  /** Its URL. */
  readonly path: string;
  readonly start: number;
  readonly end: number;
  /** Of the file as it was when the plan was made. */
  readonly length: number;
  readonly modifiedMs: number;
}

/** A split that a task holds, or held. */
export interface Lease {
  /** A split that is handed out again gets a new number. */
  readonly number: number;
  readonly epoch: number;
  /** Its place in the order of the epoch. */
  readonly position: number;
}

/** A split as its task gets it: the bytes of a file from `start` up to, but not including, `end`. */
export interface GivenSplit {
  readonly lease: Lease;
  /** The split's number in the plan. */
  readonly split: number;
  /** How many of its first records have already been used. */
  readonly skip: number;
  /** Its URL. */
  readonly path: string;
  readonly start: number;
  readonly end: number;
  /** The file's length when the plan was made. */
  readonly length: number;
  readonly modifiedMs: number;
}

/** What the GPUs that YARN granted a task do, as nvidia-smi tells it. A gauge is absent when no GPU tells it. */
export interface GpuMetrics {
  readonly count: number;
  /** Of the time, at least one kernel ran. */
  readonly utilization?: Gauge;
  /** Of their own memory. */
  readonly memory?: Gauge;
  /** Of the window through which the processor reaches that memory. */
  readonly bar1Memory?: Gauge;
}

/** Per cent of what there is, since the program started. */
export interface Gauge {
  /** The average of all GPUs in the last sample. */
  readonly current: number;
  /** Of any GPU in any sample. */
  readonly max: number;
  /** Of all GPUs over all samples. */
  readonly average: number;
}

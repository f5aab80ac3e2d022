/** What portal/server.ts answers to a list. */
export interface Jobs {
  readonly error?: string;
  readonly nowMs?: number;
  readonly scan?: Scan;
  readonly total?: number;
  readonly matching?: number;
  readonly from?: number;
  readonly rows?: readonly JobRow[];
}

interface Scan {
  readonly isComplete: boolean;
  readonly folders: number;
  readonly read: number;
  readonly atMs: number;
  readonly trouble?: string;
  /** Why YARN did not say which jobs still run. */
  readonly yarnTrouble?: string;
  /** Where no job was found. */
  readonly emptyPlaces?: readonly string[];
  readonly unreadable: readonly { readonly why: string }[];
}

export interface JobRow {
  readonly applicationId: string;
  readonly name: string;
  readonly user: string;
  readonly queue: string;
  readonly state: string;
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
  readonly tasks: number;
  readonly cause?: string;
  readonly writtenBy: string;
}

/** What it answers of the use of jobs. */
export interface Uses {
  readonly owners?: readonly (Use & { readonly queue: string; readonly user: string })[];
  readonly days?: readonly (Use & { readonly day: string })[];
}

export interface Use {
  readonly jobs: number;
  readonly gibHours: number;
  readonly coreHours: number;
  readonly gpuHours: number;
  readonly wastedGibHours: number;
  readonly wastedGpuHours: number;
  readonly costs: readonly { readonly amount: number; readonly currency?: string }[];
}

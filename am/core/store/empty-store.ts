import type { StoreState } from "./records.ts";

export function emptyStore(attempt: number): StoreState {
  return {
    revision: 0,
    entries: [],
    bytes: 0,
    owned: {},
    changes: [],
    changesBytes: 0,
    compacted: 0,
    epochs: [],
    journal: {
      attempt,
      sequence: 0,
      written: 0,
      writingBytes: 0,
      segments: 0,
      segmentsBytes: 0,
      urgent: false,
      failures: 0,
      held: [],
    },
  };
}

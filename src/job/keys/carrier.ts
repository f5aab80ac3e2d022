import { key } from "./key.ts";
import { boolean, duration, integer, memory, path } from "./types.ts";

/** What executors copy from their containers to a permanent file system; all keys are ours. */
export const carrierKeys = {
  "tony.checkpoint.local-dir": key({
    type: path,
    doc: "Folder in the container's working directory (TONY_CHECKPOINT_LOCAL_DIR) where the program saves its checkpoints. Those that it reports are copied to tony.application.checkpoint-dir; the latest one is copied back before it starts again.",
    support: "works",
    ours: true,
  }),
  "tony.checkpoint.keep": key({
    type: integer({ min: 1 }),
    default: "2",
    doc: "How many checkpoints of each task are kept in tony.application.checkpoint-dir.",
    support: "works",
    ours: true,
  }),
  "tony.output.local-dir": key({
    type: path,
    doc: "Folder in the container's working directory (TONY_OUTPUT_LOCAL_DIR) whose content is copied to tony.output.dir when the program has ended, whether or not it failed.",
    support: "works",
    ours: true,
  }),
  "tony.output.dir": key({
    type: path,
    doc: "Where results are copied to: a folder for the application, and in it one for each task. A path with neither a scheme nor a leading slash is relative to your home.",
    support: "works",
    ours: true,
  }),
  "tony.output.required": key({
    type: boolean,
    spec: ["carrier", "outputRequired"],
    default: "true",
    doc: "Whether a job fails if its results (tony.output.dir) or last checkpoint (tony.checkpoint.local-dir) were not stored completely.",
    support: "works",
    ours: true,
  }),
  "tony.carrier.bandwidth": key({
    type: memory,
    doc: "The most that one executor uploads in a second, such as 50m; default no limit.",
    support: "works",
    ours: true,
  }),
  "tony.carrier.timeout": key({
    type: duration("s", { minMs: 1000 }),
    spec: ["carrier", "timeoutMs"],
    default: "10m",
    doc: "How long an executor may take to upload checkpoints and output after its program has ended, and to download a checkpoint before it starts.",
    support: "works",
    ours: true,
  }),
} as const;

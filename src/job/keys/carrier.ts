import { key } from "./key.ts";
import { duration, integer, memory, path } from "./types.ts";

/** What executors bring from their containers to a file system that stays; all ours. */
export const carrierKeys = {
  "tony.checkpoint.local-dir": key({
    type: path,
    doc: "Folder of the container's working directory (TONY_CHECKPOINT_LOCAL_DIR) where the program saves its checkpoints: those that it reports are brought to tony.application.checkpoint-dir, and the furthest is brought back before it starts again.",
    support: "works",
    ours: true,
  }),
  "tony.checkpoint.keep": key({
    type: integer({ min: 1 }),
    default: "2",
    doc: "How many of the checkpoints brought there are kept for each task.",
    support: "works",
    ours: true,
  }),
  "tony.output.local-dir": key({
    type: path,
    doc: "Folder of the container's working directory (TONY_OUTPUT_LOCAL_DIR) whose content is brought to tony.output.dir when the program has ended, however it did.",
    support: "works",
    ours: true,
  }),
  "tony.output.dir": key({
    type: path,
    doc: "Where results go: below it a folder for the application, and in that one for each task. With neither a scheme nor a leading slash it starts in your home.",
    support: "works",
    ours: true,
  }),
  "tony.carrier.bandwidth": key({
    type: memory,
    doc: "Most that one executor brings up in a second, such as 50m; without it as fast as it goes.",
    support: "works",
    ours: true,
  }),
  "tony.carrier.timeout": key({
    type: duration("s"),
    default: "10m",
    doc: "How long an executor may go on bringing up checkpoints and output when its program has ended, and bringing back a checkpoint before it starts.",
    support: "works",
    ours: true,
  }),
} as const;

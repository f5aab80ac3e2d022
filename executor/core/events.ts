import type { MasterMessage } from "../../src/api/messages.ts";
import type { AbsenceLimits, MasterAddress, StagingNews } from "./master.ts";

/** What an executor's core hears. */
export type Event =
  | { readonly type: "begun" }
  /** The time that was asked for has come. */
  | { readonly type: "woken" }
  | {
      readonly type: "message";
      readonly connection: number;
      readonly message: MasterMessage;
      readonly generation: number;
    }
  /** A stream has ended. */
  | { readonly type: "ended"; readonly connection: number; readonly cause: string }
  /** An attempt calls with its address. */
  | { readonly type: "called"; readonly master: MasterAddress }
  /** What a look into the staging folder has found; absent: it cannot be reached. */
  | { readonly type: "looked"; readonly absence: number; readonly news?: StagingNews | undefined }
  | { readonly type: "limits"; readonly limits: AbsenceLimits }
  /** What is registered has changed. */
  | { readonly type: "changed" }
  | { readonly type: "program-started" | "program-ended"; readonly generation: number }
  /** Nothing is obeyed from then on. */
  | { readonly type: "ending" }
  /** The streams end. */
  | { readonly type: "closing" };

import type { MasterMessage, RejoinReply } from "../../src/api/messages.ts";
import type { MasterAddress } from "./master.ts";

type Level = "debug" | "info" | "warn" | "error";

/** What is to be done, in this order. */
export type Effect =
  /** Opens a stream. */
  | { readonly type: "connect"; readonly connection: number; readonly target: MasterAddress }
  /** Registers on a stream, as soon as the executor is ready to. */
  | { readonly type: "register"; readonly connection: number }
  /** Closes a stream at once; its end is not reported. */
  | { readonly type: "close"; readonly connection: number }
  /** An ApplicationMaster is connected: whatever it may not know must be sent again. */
  | { readonly type: "joined"; readonly message: MasterMessage }
  | { readonly type: "left" }
  | { readonly type: "obey"; readonly message: MasterMessage }
  /** The ApplicationMaster refuses this executor. */
  | { readonly type: "refused"; readonly reason: string }
  /** The answer to an attempt that called. */
  | { readonly type: "answer"; readonly reply: RejoinReply }
  /** Looks into the staging folder; the result comes with the number of the absence. */
  | { readonly type: "look"; readonly absence: number }
  /** The task runs in another container. */
  | { readonly type: "replaced" }
  /** Uploads wait, and those under way are aborted. */
  | { readonly type: "hold-uploads"; readonly why: string }
  | { readonly type: "allow-uploads" }
  /** Suspends or resumes the program of that generation. */
  | { readonly type: "suspend" | "resume"; readonly generation: number }
  /** No ApplicationMaster for this long. */
  | { readonly type: "orphaned"; readonly silentMs: number }
  | {
      readonly type: "log";
      readonly level: Level;
      readonly event: string;
      readonly message: string;
      readonly fields?: Readonly<Record<string, number>>;
    };

import { transferKinds, transferStates } from "../job/status.ts";
import { word, wordOrFirst } from "./fields.ts";

/** The fields of proto/tony that are one of a few words. */

export const logStream = wordOrFirst("stdout", "stderr", "executor", "index");
export const noticeCause = wordOrFirst("preemption", "decommissioning");
export const transferKind = word(...transferKinds);
export const transferState = word(...transferStates);

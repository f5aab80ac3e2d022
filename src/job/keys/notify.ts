import { key } from "./key.ts";
import { optionalDuration, webAddress } from "./types.ts";

/** Who is told of what happens to the job. */
export const notifyKeys = {
  "tony.notify.url": key({
    type: webAddress,
    spec: ["am", "notifyUrl"],
    doc: "A webhook: the ApplicationMaster posts JSON there when programs start, at the first failure, at the end, and for what the keys `tony.notify.*` say. The secret TONY_NOTIFY_KEY, set by --secret, signs what it posts.",
    support: "works",
    ours: true,
  }),
  "tony.notify.waiting-after": key({
    type: optionalDuration("ms"),
    spec: ["am", "notifyWaitingMs"],
    default: "10m",
    doc: "Post there what the job has waited for this long.",
    support: "works",
    ours: true,
  }),
  "tony.notify.gpu-idle-after": key({
    type: optionalDuration("ms"),
    spec: ["am", "notifyGpuIdleMs"],
    default: "10m",
    doc: "Post there whose GPUs have been used to less than 5 % for this long.",
    support: "works",
    ours: true,
  }),
  "tony.notify.straggler-after": key({
    type: optionalDuration("ms"),
    spec: ["am", "notifyStragglerMs"],
    default: "5m",
    doc: "Post there which tasks have reported fewer than 0.75 of the steps of their role's median for this long.",
    support: "works",
    ours: true,
  }),
  "tony.notify.no-checkpoint-after": key({
    type: optionalDuration("ms"),
    spec: ["am", "notifyNoCheckpointMs"],
    default: "0",
    doc: "Post there that running programs have reported no checkpoint for this long.",
    support: "works",
    ours: true,
  }),
} as const;

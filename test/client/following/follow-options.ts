import type { FollowOptions } from "../../../client/following/follow-options.ts";
import { FollowView } from "../../../client/following/follow-view.ts";
import type { RecordedContext } from "../support.ts";

/** How a job is followed whose output goes into the record, by the record's clock, until the test ends. */
export function followedInto({
  output,
  now,
}: RecordedContext): Pick<FollowOptions, "view" | "now" | "sinceMs" | "logs" | "stop"> {
  return {
    view: new FollowView(output, now, now()),
    now,
    sinceMs: now(),
    logs: { kind: "all" },
    stop: new AbortController().signal,
  };
}

import type { Output } from "../output/output.ts";
import type { FollowEvent } from "../printed-json.ts";

/** Prints one line of a followed job. */
export function printEvent(output: Output, event: FollowEvent): void {
  output.jsonLine(event);
}

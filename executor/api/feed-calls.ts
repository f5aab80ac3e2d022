import type { FeedAnswered, FeedCall } from "../../src/api/messages.ts";
import type { MasterLink } from "../master/master-link.ts";
import { CallError } from "./call.ts";
import { untilAnswered } from "./until-answered.ts";

/**
 * Calls a feed of the job for this life of the task.
 * @throws CallError where it is refused
 */
export function askFeed(
  link: () => Pick<MasterLink, "askFeed" | "connected">,
  { call, ...whose }: { readonly feed: string; readonly generation: number; readonly call: FeedCall },
  gone: AbortSignal,
  pause?: (ms: number) => Promise<unknown>,
): Promise<FeedAnswered> {
  const ask = async (timeoutMs: number) => {
    const body = await link().askFeed({ ...whose, body: call }, timeoutMs, gone);
    if (body?.type === "refused") throw new CallError(409, `FEED_${body.code.toUpperCase()}`, body.message);
    return body?.type === "unknown" ? undefined : body;
  };
  return untilAnswered(link, ask, gone, { away: "FEED_AWAY", ...(pause && { pause }) });
}

import type { EventEmitter } from "node:events";
import { type ServerWritableStream, status } from "@grpc/grpc-js";
import { errorMessage } from "../hadoop/errors.ts";
import type { Watched } from "../job/store/watched.ts";
import type { WatchReply, WatchRequest } from "./messages.ts";
import { endWithError } from "./server.ts";
import { StreamWriter } from "./stream-writer.ts";

export interface WatchHandler {
  /**
   * Reports changes until the function that it resolves with is called. Rejects if the store cannot be read at present, or if the caller
   * may not know this.
   * @param task the task that asks; absent: a caller who may use all of the store
   */
  watch(request: WatchRequest, tell: (news: Watched) => Promise<void>, task?: string): Promise<() => void>;
}

export type WatchStream = ServerWritableStream<WatchRequest, WatchReply>;

/** The part of a stream that a watch needs. */
interface Watching extends Pick<EventEmitter, "emit" | "on" | "once"> {
  readonly request: WatchRequest;
  write(reply: WatchReply): boolean;
  end(): unknown;
}

/** Reports changes in the store to a caller that may see them, while it reads and until a final message. @param task the task that asks */
export function serveWatch(stream: Watching, handler: WatchHandler, task?: string): void {
  const writer = new StreamWriter<WatchReply>(stream, { limit: 2, onOverflow: () => stream.end() });
  let isOver = false;
  let end: () => void = () => undefined;
  const gone = () => {
    isOver = true;
    writer.close();
    end();
  };
  for (const event of ["cancelled", "close", "finish", "error"] as const) stream.on(event, gone);
  const tell = async (news: Watched) => {
    writer.send({ watched: news });
    await writer.drained();
    if (news.type !== "changes") stream.end();
  };
  handler.watch(stream.request, tell, task).then(
    (begun) => {
      end = begun;
      if (isOver) end();
    },
    (error: unknown) => endWithError(stream, errorMessage(error), status.ABORTED),
  );
}

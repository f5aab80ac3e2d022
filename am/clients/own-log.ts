import type { LogReader } from "../../src/api/client-endpoint.ts";
import type { LogWanted } from "../../src/api/messages.ts";
import { sleep } from "../../src/hadoop/clock.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { RotatingLog } from "../../src/rotating-log.ts";

const chunkBytes = 65_536;
/** How often a log that is followed is checked for more. */
const checkAgainMs = 200;

/** Sends a client the ApplicationMaster's own log from disk. @returns stops it */
export function readOwnLog(log: RotatingLog, request: LogWanted, reader: LogReader): () => void {
  const reading = new AbortController();
  void readAll(log, request, reader, reading.signal).catch((error: unknown) => {
    if (!reading.signal.aborted) reader.fail(`${log.file} cannot be read: ${errorMessage(error)}`);
  });
  return () => reading.abort();
}

async function readAll(log: RotatingLog, request: LogWanted, reader: LogReader, signal: AbortSignal): Promise<void> {
  const { stream, follow } = request;
  let from = request.offset >= 0 ? request.offset : Math.max(0, log.sizeBytes + request.offset);
  while (!signal.aborted) {
    const offset = log.firstFrom(from);
    const data = log.read(offset, chunkBytes);
    const end = data.length === 0 && !follow;
    const skippedBytes = offset - from;
    if (data.length > 0 || end)
      await reader.send({ tailId: 0, stream, offset, data, end, generation: 0, skippedBytes });
    if (end) return;
    from = offset + data.length;
    if (data.length === 0) await sleep(checkAgainMs);
  }
}

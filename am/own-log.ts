import { type FileHandle, open } from "node:fs/promises";
import type { LogReader } from "../src/api/client-endpoint.ts";
import type { ReadLogRequest } from "../src/api/messages.ts";
import { sleep } from "../src/hadoop/clock.ts";
import { errorMessage } from "../src/hadoop/errors.ts";

const chunkBytes = 65_536;
/** How often a log that is followed is checked for more. */
const checkAgainMs = 200;

/** Sends a client the ApplicationMaster's own log from disk. @returns stops it */
export function readOwnLog(file: string, request: ReadLogRequest, reader: LogReader): () => void {
  const reading = new AbortController();
  void readAll(file, request, reader, reading.signal).catch((error: unknown) => {
    if (!reading.signal.aborted) reader.fail(`${file} cannot be read: ${errorMessage(error)}`);
  });
  return () => reading.abort();
}

async function readAll(file: string, request: ReadLogRequest, reader: LogReader, signal: AbortSignal): Promise<void> {
  const handle = await open(file);
  try {
    let offset = await firstOffset(handle, request.offset);
    while (!signal.aborted) {
      const data = await readChunk(handle, offset);
      const end = data.length === 0 && !request.follow;
      if (data.length > 0 || end) await reader.send(chunk(request, offset, data, end));
      if (end) return;
      offset += data.length;
      if (data.length === 0) await sleep(checkAgainMs);
    }
  } finally {
    await handle.close();
  }
}

async function firstOffset(handle: FileHandle, wanted: number): Promise<number> {
  return wanted >= 0 ? wanted : Math.max(0, (await handle.stat()).size + wanted);
}

async function readChunk(handle: FileHandle, offset: number): Promise<Uint8Array> {
  const buffer = new Uint8Array(chunkBytes);
  const { bytesRead } = await handle.read(buffer, 0, chunkBytes, offset);
  return buffer.subarray(0, bytesRead);
}

function chunk({ stream }: ReadLogRequest, offset: number, data: Uint8Array, end: boolean) {
  return { tailId: 0, stream, offset, data, end, generation: 0, skippedBytes: 0 };
}

import { Readable } from "node:stream";
import type { StoredLogs } from "../../src/logs/log-store.ts";

/** The second container of an application. */
export const containerId = "container_1795305600000_0001_01_000002";
export const tenancy = { task: "worker:0", containerId, logPrefix: "", ran: true };

/** How much of a file comes at a time. */
const PIECE_BYTES = 4;

/** What nodes have stored, in that order: the name of each file, its text, and its container. */
export function storeOf(files: readonly (readonly [name: string, text: string, container?: string])[]): StoredLogs {
  return {
    async *logs(wanted) {
      for (const [name, text, container = containerId] of files) {
        const data = Buffer.from(text);
        const pieces = Array.from({ length: Math.ceil(data.length / PIECE_BYTES) }, (_, at) =>
          data.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES),
        );
        if (wanted(container))
          yield { containerId: container, name, lengthBytes: data.length, content: Readable.from(pieces) };
      }
    },
  };
}

export async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

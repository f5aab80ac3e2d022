import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

/** How many processes meet in a scope, by the scope's name; undefined for a scope that programs create themselves. */
export type ScopeSizes = ReadonlyMap<string, number>;

/**
 * The scopes by Horovod's names: all processes, those of a host, and those with one local rank, on the hosts that have it.
 * @param processes of each host, by its name
 */
export function scopeSizes(processes: ReadonlyMap<string, number>): ScopeSizes {
  const counts = [...processes.values()];
  const size = counts.reduce((sum, count) => sum + count, 0);
  const local = Array.from(processes, ([host, count]): [string, number] => [`local_${host}`, count]);
  const cross = Array.from({ length: Math.max(...counts) }, (_, localRank): [string, number] => {
    return [`cross_${localRank}`, counts.filter((count) => count > localRank).length];
  });
  return new Map([["global", size], ["global_", size], ...local, ...cross]);
}

/** The largest value: a process's addresses for thousands of peers. */
export const MOST_VALUE_BYTES = 1 << 20;
/** What a store may contain beyond what its processes need. */
export const SPARE_BYTES = 16 << 20;
/** What each pair of processes stores at most, in all scopes: one address each. */
export const BYTES_OF_PAIR = 512;
/** The size of an entry in addition to its names and value. */
const ENTRY_BYTES = 256;

/**
 * The store in which Horovod's processes find each other, over HTTP: `PUT`, `GET` and `DELETE` of `/<scope>/<key>`
 * (horovod/runner/http/http_server.py). Each process that has found its peers deletes its rank; when all of a scope have done so, the
 * scope is emptied, so that they can meet again. Clients are not authenticated, so the store is bounded: 413 for a value that is too
 * long, 507 when it is full.
 */
export function rendezvousStore(sizes: ScopeSizes): RequestListener {
  const scopes = new Map<string, Map<string, Buffer>>();
  const finished = new Map<string, number>();
  const mostBytes = SPARE_BYTES + BYTES_OF_PAIR * (sizes.get("global") ?? 0) ** 2;
  let heldBytes = 0;
  const room = bodyRoom(mostBytes);

  const remove = (scope: string, key: string): void => {
    const value = scopes.get(scope)?.get(key);
    if (value === undefined) return;
    heldBytes -= entryBytes(scope, key, value);
    scopes.get(scope)?.delete(key);
    if (scopes.get(scope)?.size === 0) scopes.delete(scope);
  };

  const put = (scope: string, key: string, value: Buffer): boolean => {
    remove(scope, key);
    const bytes = entryBytes(scope, key, value);
    if (heldBytes + bytes > mostBytes) return false;
    heldBytes += bytes;
    scopes.set(scope, (scopes.get(scope) ?? new Map<string, Buffer>()).set(key, value));
    return true;
  };

  const deleteKey = (scope: string, key: string): void => {
    const size = sizes.get(scope);
    if (size === undefined) {
      remove(scope, key);
      return;
    }
    const count = (finished.get(scope) ?? 0) + 1;
    finished.set(scope, count === size ? 0 : count);
    if (count === size) for (const each of [...(scopes.get(scope)?.keys() ?? [])]) remove(scope, each);
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // Each part keeps the whole address in memory: it must not contain more than is counted.
    const [, scope, key, more] = (request.url ?? "").split("/");
    if (scope === undefined || key === undefined || more !== undefined) return end(response, 400);
    if (request.method === "PUT") {
      const value = await boundedBody(request, MOST_VALUE_BYTES, room);
      if (value === "too long") return end(response, 413);
      return end(response, value !== "no room" && put(scope, key, value) ? 200 : 507);
    }
    if (request.method === "DELETE") {
      deleteKey(scope, key);
      return end(response, 200);
    }
    const value = scopes.get(scope)?.get(key);
    return value === undefined ? end(response, 404) : end(response, 200, value);
  };

  // A request that breaks off has nobody to answer.
  return (request, response) => void answer(request, response).catch(() => response.destroy());
}

/** The memory for all bodies while they are read: each of thousands of connections may send just less than the limit. */
export interface BodyRoom {
  /** @returns whether there is room for these bytes */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

export function bodyRoom(mostBytes: number = SPARE_BYTES): BodyRoom {
  let readingBytes = 0;
  return {
    take: (bytes) => {
      readingBytes += bytes;
      return readingBytes <= mostBytes;
    },
    give: (bytes) => {
      readingBytes -= bytes;
    },
  };
}

/** The body of a request, counted as it arrives: its declared length may be wrong or missing. */
export function boundedBody(
  request: IncomingMessage,
  mostBytes: number,
  room: BodyRoom,
): Promise<Buffer | "too long" | "no room"> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise<Buffer | "too long" | "no room">((resolve, reject) => {
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      const isTaken = room.take(chunk.length);
      if (isTaken && bytes <= mostBytes) chunks.push(chunk);
      else {
        request.pause();
        resolve(isTaken ? "too long" : "no room");
      }
    });
    request.once("end", () => resolve(Buffer.concat(chunks)));
    request.once("error", reject);
    // Every request closes, and creating an error takes longer than reading a body.
    request.once("close", () => {
      if (!request.readableEnded) reject(new Error("the caller has gone"));
    });
  }).finally(() => {
    request.removeAllListeners("data");
    room.give(bytes);
  });
}

function entryBytes(scope: string, key: string, value: Buffer): number {
  return ENTRY_BYTES + 2 * (scope.length + key.length) + value.length;
}

/** The rest of a request that was not read to its end is not awaited. */
function end(response: ServerResponse, status: number, body: Uint8Array = new Uint8Array()): void {
  if (!response.req.complete) response.shouldKeepAlive = false;
  response.writeHead(status, { "Content-Length": body.length }).end(body);
}

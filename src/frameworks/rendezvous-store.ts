import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";

/** How many processes meet in a scope, by its name; undefined for a scope that programs make for themselves. */
export type ScopeSizes = ReadonlyMap<string, number>;

/**
 * The scopes as Horovod names them: all processes, those of a host, and those of one local rank, which hosts with as many have.
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

/**
 * The store in which Horovod's processes find each other, over HTTP: `PUT`, `GET` and `DELETE` of `/<scope>/<key>`
 * (horovod/runner/http/http_server.py). Each process that has found its peers deletes its rank; when all of a scope have, the scope is
 * emptied, so that they can meet again.
 */
export function rendezvousStore(sizes: ScopeSizes): RequestListener {
  const scopes = new Map<string, Map<string, Buffer>>();
  const finished = new Map<string, number>();

  const deleteKey = (scope: string, key: string): void => {
    const size = sizes.get(scope);
    if (size === undefined) {
      scopes.get(scope)?.delete(key);
      return;
    }
    const count = (finished.get(scope) ?? 0) + 1;
    finished.set(scope, count === size ? 0 : count);
    if (count === size) scopes.delete(scope);
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [, scope, key] = (request.url ?? "").split("/");
    if (scope === undefined || key === undefined) return end(response, 400);
    if (request.method === "PUT") {
      const values = scopes.get(scope) ?? new Map<string, Buffer>();
      values.set(key, await buffer(request));
      scopes.set(scope, values);
      return end(response, 200);
    }
    if (request.method === "DELETE") {
      deleteKey(scope, key);
      return end(response, 200);
    }
    const value = scopes.get(scope)?.get(key);
    return value === undefined ? end(response, 404) : end(response, 200, value);
  };

  // A request that breaks off has nobody to be answered.
  return (request, response) => void answer(request, response).catch(() => response.destroy());
}

function end(response: ServerResponse, status: number, body: Uint8Array = new Uint8Array()): void {
  response.writeHead(status, { "Content-Length": body.length }).end(body);
}

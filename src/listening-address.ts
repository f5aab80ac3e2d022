/**
 * Where programs of a node listen whose host is this one to others: on this machine alone where the host is a name for it that others
 * cannot use, as with the local scheduler; undefined: at all of the node's addresses.
 */
export function listeningAddress(host: string): string | undefined {
  return host === "127.0.0.1" || host === "::1" ? host : undefined;
}

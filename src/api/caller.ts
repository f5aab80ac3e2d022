/**
 * A caller's name and the secret it shares with the server: each side proves that it knows the secret, and neither reveals it
 * (authentication.ts).
 */
export interface Caller {
  /** A container's id, or the identity of a client; without spaces. */
  readonly name: string;
  readonly secret: Uint8Array;
}

/** The secrets of the callers of a service, by name; undefined: there is no caller of that name. */
export type SecretOf = (name: string) => Uint8Array | undefined;

/** The callers of each service, by its full name. */
export type Callers = Readonly<Record<string, SecretOf>>;

/** Why a caller may not call a method, given its path; undefined: the caller may. Checked before anything of the call is read. */
export type CallRefusal = (caller: string, path: string) => Promise<string | undefined>;

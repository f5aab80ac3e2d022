/** Who calls, and what he shares with the server: each proves that he knows it, and neither tells it (authentication.ts). */
export interface Caller {
  /** A container's id, or who a client is; without spaces. */
  readonly name: string;
  readonly secret: Uint8Array;
}

/** The secrets of those who may call a service, by name; undefined: nobody has that name. */
export type SecretOf = (name: string) => Uint8Array | undefined;

/** Who may call which service, by its full name. */
export type Callers = Readonly<Record<string, SecretOf>>;

/** Why a caller may not call a method, by its path; undefined: he may. It is asked before anything of the call is read. */
export type CallRefusal = (caller: string, path: string) => Promise<string | undefined>;

import type { Koffi, NativeFunction } from "../../src/hadoop/security/kerberos/koffi-package.ts";

/** A C function: it gets what koffi would pass on, and puts its results into arrays and objects. @returns its status */
export type StandInFunction = (...parameters: readonly unknown[]) => number;

/** What a library writes into a `gss_buffer_desc`. */
interface OutBuffer {
  length?: bigint;
  value?: bigint;
}

/** Gets a function that ends a call on another thread: the call returns when that function is called. */
export type StandInThreads = (end: () => void) => unknown;

/** Koffi with a library whose functions are JavaScript. Functions that are not given answer 0 and write nothing. */
export class StandInKoffi implements Koffi {
  /** The names of the functions that were called, in their order. */
  readonly called: string[] = [];
  readonly #functions: Readonly<Record<string, StandInFunction>>;
  readonly #threads: StandInThreads;
  readonly #memory = new Map<bigint, Uint8Array>();

  constructor(functions: Readonly<Record<string, StandInFunction>>, threads: StandInThreads = queueMicrotask) {
    this.#functions = functions;
    this.#threads = threads;
  }

  /** Writes a text as the library would. */
  give(buffer: unknown, text: string): void {
    const bytes = Buffer.from(text);
    const value = BigInt(this.#memory.size + 1);
    this.#memory.set(value, bytes);
    const given: OutBuffer = { length: BigInt(bytes.length), value };
    if (typeof buffer === "object" && buffer !== null) Object.assign(buffer, given);
  }

  load(): { readonly func: (name: string) => NativeFunction } {
    return { func: (name) => this.#function(name) };
  }

  struct() {
    return { name: "struct" };
  }

  pointer() {
    return { name: "pointer" };
  }

  out() {
    return { name: "out" };
  }

  inout() {
    return { name: "inout" };
  }

  view(pointer: bigint, lengthBytes: number): ArrayBuffer {
    const bytes = this.#memory.get(pointer) ?? new Uint8Array();
    return new Uint8Array(bytes.subarray(0, lengthBytes)).buffer;
  }

  #function(name: string): NativeFunction {
    const call: StandInFunction = (...parameters) => {
      this.called.push(name);
      return this.#functions[name]?.(...parameters) ?? 0;
    };
    const async = (...parameters: readonly unknown[]) => {
      const told = parameters.at(-1);
      const status = call(...parameters.slice(0, -1));
      this.#threads(() => {
        if (typeof told === "function") told(null, status);
      });
    };
    return Object.assign(call, { async });
  }
}
